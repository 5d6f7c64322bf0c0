# Completion of longhaul for bash. It asks the program itself, which knows its flags, planets and hosts.
_longhaul() {
    local line files= current=${COMP_WORDS[COMP_CWORD]}
    # Bash takes words apart at these, and so may the current one be no more than what is between two.
    [[ $current == [=:] ]] && current=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :files) files=yes ;;
            :nospace) compopt -o nospace ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("$1" complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    if [[ $files ]]; then
        # Names of files are quoted where they have to be, and a folder ends in a slash.
        compopt -o filenames
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    fi
}
complete -F _longhaul longhaul
