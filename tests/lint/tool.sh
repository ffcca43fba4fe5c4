# tool.sh - sourced by checks whose verdict depends on the version of their tool.
#
#   . "${srcdir:-.}/tests/lint/tool.sh"
#   want_tool CHECK TOOL VERSION
#
# Exit 77 (skipped) when the tool is missing or another version than the one the tree is
# kept clean with: other versions have other opinions.
# shellcheck shell=sh
want_tool() {
    command -v "$2" >/dev/null 2>&1 || {
        echo "$1: skipped, $2 is not installed"
        exit 77
    }
    case " $("$2" --version 2>&1 | tr '\n' ' ')" in
    *" $3"[.\ ]*) ;;
    *)
        echo "$1: skipped, the tree is kept clean with $2 $3"
        exit 77
        ;;
    esac
}
