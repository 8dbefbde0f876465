# Completes the command lines of tagnet in fish: tagnet completion fish | source
function __tagnet_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l before (string match -r -- '^--?[^=]*=' $current)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    for line in ($program completion words $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (string replace -- "$before" '' "$current") | string replace -r '^' -- "$before"
            case :folders
                __fish_complete_directories (string replace -- "$before" '' "$current") | string replace -r '^' -- "$before"
            case '*'
                printf '%s%s\n' "$before" $line
        end
    end
end
complete -c tagnet -f -a '(__tagnet_complete)'
