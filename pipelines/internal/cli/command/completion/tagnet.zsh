#compdef tagnet
# Completes the command lines of tagnet in zsh: source <(tagnet completion zsh), after compinit; or as _tagnet in a folder of fpath
_tagnet() {
  local line files folders
  local -a described
  for line in "${(@f)$("${(Q)words[1]/#\~/$HOME}" completion words "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=1 ;;
      :folders) folders=1 ;;
      *) described+=("${${line//:/\\:}/$'\t'/:}") ;;
    esac
  done
  [[ ${words[CURRENT]} == -*=* ]] && compset -P 1 '*='
  (( $#described )) && _describe -V tagnet described
  [[ -n $files ]] && _files
  [[ -n $folders ]] && _files -/
  return 0
}
if [[ $funcstack[1] == _tagnet ]]; then
  _tagnet "$@"
else
  compdef _tagnet tagnet
fi
