// Grades a file of results by the suite's own rules: node grade.mjs grade RESULTS prints one object per test.
import fs from 'node:fs'
import suites from './tests/index.mjs'
import { determineTestResult } from './test-engine/lib/results.mjs'

const [, , , file] = process.argv
const read = JSON.parse(fs.readFileSync(file, 'utf8'))
const results = read.results ?? read
const graded = suites
  .flatMap((suite) => suite.tests)
  .filter((test) => !test.browser_only && (test.kind ?? 'required') !== 'check')
  .map((test) => {
    const result = results[test.id]
    return {
      id: test.id,
      kind: test.kind ?? 'required',
      is_passed: determineTestResult(suites, test.id, results)[2] === '✅',
      why: Array.isArray(result) ? result.join(': ') : result === true ? 'a test that it depends on failed' : 'not run',
    }
  })
console.log(JSON.stringify(graded))
