# Completion of longhaul for bash. It calls the program, which returns its options, planets and hosts.
_longhaul() {
    local line files= current=${COMP_WORDS[COMP_CWORD]}
    # Bash splits words at these characters, so the current word may be only the part between two of them.
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
        # Quote file names if necessary, and append a slash to folders.
        compopt -o filenames
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    fi
}
complete -F _longhaul longhaul
