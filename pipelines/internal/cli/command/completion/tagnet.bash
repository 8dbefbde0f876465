# Completes the command lines of tagnet in bash: source <(tagnet completion bash)
_tagnet() {
  local program=${COMP_WORDS[0]/#\~/$HOME} current=${COMP_WORDS[COMP_CWORD]} line name
  [[ $current == '=' ]] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files | :folders)
        # Readline completes what compgen does not, such as a name with a backslash.
        compopt -o filenames -o default 2>/dev/null
        while IFS= read -r name; do
          COMPREPLY+=("$name")
        done < <([[ $line == :files ]] && compgen -f -- "$current" || compgen -d -- "$current")
        ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("$program" completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _tagnet tagnet
