"""Checks responses with httplint. Each line of input is an exchange in JSON, each line of output contains its notes."""

import json
import sys

from httplint import HttpRequestLinter, HttpResponseLinter


def fields(lines):
    return [(name.encode(), value.encode("latin-1")) for name, value in lines]


for line in sys.stdin:
    exchange = json.loads(line)
    asked = exchange["request"]
    request = HttpRequestLinter()
    request.process_request_topline(asked["method"].encode(), asked["target"].encode(), b"HTTP/1.1")
    request.process_headers(fields(asked["fields"]))
    request.finish_content(True)
    notes = []
    for response in exchange["responses"]:
        linter = HttpResponseLinter(_related=request, no_content=asked["method"] == "HEAD")
        linter.process_response_topline(b"HTTP/1.1", response["status"].encode(), response["phrase"].encode())
        linter.process_headers(fields(response["fields"]))
        linter.feed_content(bytes.fromhex(response["body"]))
        linter.finish_content(response["is_complete"], fields(response["trailers"]))
        for note in linter.notes:
            notes.append({"name": type(note).__name__, "level": note.level.value, "summary": str(note.summary)})
    print(json.dumps(notes), flush=True)
