# Completion of longhaul for fish. It calls the program, which returns its options, planets and hosts.
function __longhaul_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    command -q $words[1]; or return
    for line in (command $words[1] complete fish -- $words $current 2>/dev/null)
        switch $line
            case :nospace
                # Fish adds no blank after characters such as / = : and -.
            case :files
                # LABEL=FILE and --flag=FILE
                set -l before (string match -r '^.*=' -- $current; or echo '')
                for file in (__fish_complete_path (string replace -r '^.*=' '' -- $current))
                    echo $before$file
                end
            case '*'
                echo $line
        end
    end
end
complete -c longhaul -f -a '(__longhaul_complete)'
