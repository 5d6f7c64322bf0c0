#compdef longhaul
# Completion of longhaul for zsh. It calls the program, which returns its options, planets and hosts.
_longhaul() {
    local line value files nospace
    local -a candidates
    while IFS= read -r line; do
        case $line in
            :files) files=yes ;;
            :nospace) nospace=yes ;;
            *)
                value=${line%%$'\t'*}
                candidates+=("${value//:/\\:}:${line#*$'\t'}")
                ;;
        esac
    done < <("${(Q)words[1]}" complete zsh -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    if (( $#candidates )); then
        if [[ -n $nospace ]]; then
            _describe -t longhaul longhaul candidates -S ''
        else
            _describe -t longhaul longhaul candidates
        fi
    fi
    if [[ -n $files ]]; then
        # LABEL=FILE and --flag=FILE
        compset -P '*='
        _files
    fi
}
if [[ $funcstack[1] == _longhaul ]]; then
    _longhaul "$@"
else
    compdef _longhaul longhaul
fi
