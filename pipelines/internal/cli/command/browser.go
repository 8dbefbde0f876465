package command

import (
	"context"
	"os"
	"os/exec"
	"runtime"
)

// Browser returns the command that shows a file or an address in the user's browser: $BROWSER, or the system's.
func Browser(ctx context.Context, target string) *exec.Cmd {
	opener := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if browser := os.Getenv("BROWSER"); browser != "" {
		opener = []string{browser}
	} else if opener == nil {
		opener = []string{"xdg-open"}
	}
	return exec.CommandContext(ctx, opener[0], append(opener[1:], target)...)
}

// HasDisplay reports whether a browser can open a window here.
func HasDisplay() bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("BROWSER") != "" {
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}
