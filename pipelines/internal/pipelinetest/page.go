package pipelinetest

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Page is a window of the browser, with storage and a history of its own. Its methods end the test on an error.
type Page struct {
	t       testing.TB
	browser *browser
	session string
}

// browser is a browser that all pages of a process share. Their commands take turns.
type browser struct {
	sync.Mutex
	process *exec.Cmd
	home    string
	to      *os.File
	from    *bufio.Reader
	last    int
	said    map[string][]string // on the console, by session
}

// running is the browser, once a page was opened.
var running struct {
	sync.Mutex
	browser *browser
}

// patience is how long the browser may take for one step on a busy machine.
const patience = 20 * time.Second

// OpenPage opens a URL in a window of the given size, which the end of the test closes, and waits until it is loaded.
func OpenPage(t testing.TB, url string, width, height int) *Page {
	t.Helper()
	p := &Page{t: t, browser: startBrowser(t)}
	var own struct{ BrowserContextID string }
	p.call("Target.createBrowserContext", nil, &own)
	t.Cleanup(func() {
		p.session = ""
		p.call("Target.disposeBrowserContext", map[string]any{"browserContextId": own.BrowserContextID}, nil)
	})
	var target struct{ TargetID string }
	p.call("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": own.BrowserContextID, "newWindow": true}, &target)
	var attached struct{ SessionID string }
	p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	p.call("Log.enable", nil, nil)
	p.call("Runtime.enable", nil, nil)
	p.call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	p.Resize(width, height)
	var went struct{ ErrorText string }
	p.call("Page.navigate", map[string]any{"url": url}, &went)
	if went.ErrorText != "" {
		t.Fatalf("opening %s: %s", url, went.ErrorText)
	}
	p.Wait(`location.href != "about:blank" && document.readyState == "complete"`)
	return p
}

// startBrowser returns the browser, with a pipe in each direction, its files 3 and 4. Where none is
// installed, it skips the test.
func startBrowser(t testing.TB) *browser {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	if running.browser != nil {
		return running.browser
	}
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed: the page is not looked at")
	}
	home, err := os.MkdirTemp("", "browser")
	theirIn, ourOut, err1 := os.Pipe()
	ourIn, theirOut, err2 := os.Pipe()
	if err := errors.Join(err, err1, err2); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe",
		"--user-data-dir="+home)
	c.ExtraFiles = []*os.File{theirIn, theirOut}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	if templates.folder == "" { // else Main does it
		t.Cleanup(closeBrowser)
	}
	running.browser = &browser{process: c, home: home, to: ourOut, from: bufio.NewReader(ourIn), said: map[string][]string{}}
	return running.browser
}

func closeBrowser() {
	running.Lock()
	defer running.Unlock()
	if b := running.browser; b != nil {
		_ = syscall.Kill(-b.process.Process.Pid, syscall.SIGKILL) // with its helper processes
		_ = b.process.Wait()
		b.to.Close()
		_ = os.RemoveAll(b.home)
		running.browser = nil
	}
}

// call sends a command and decodes its result, unless result is nil. Of the events it keeps what is
// said on the console.
func (p *Page) call(method string, parameters map[string]any, result any) {
	p.t.Helper()
	b := p.browser
	b.Lock()
	defer b.Unlock()
	b.last++
	command := map[string]any{"id": b.last, "method": method, "params": parameters}
	if p.session != "" {
		command["sessionId"] = p.session
	}
	text, err := json.Marshal(command)
	if err != nil {
		p.t.Fatal(err)
	}
	// Messages are JSON with a zero byte behind each.
	timer := time.AfterFunc(patience, func() { b.to.Close() }) // ends the browser, and with it the read
	defer timer.Stop()
	if _, err := b.to.Write(append(text, 0)); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	// Events come between; the result has the command's id.
	for {
		text, err := b.from.ReadBytes(0)
		if err != nil {
			p.t.Fatalf("%s: the browser ended: %v", method, err)
		}
		var answer struct {
			ID        int
			SessionID string
			Result    json.RawMessage
			Error     *struct{ Message string }
			Method    string
			Params    json.RawMessage
		}
		if err := json.Unmarshal(text[:len(text)-1], &answer); err != nil {
			p.t.Fatalf("%s: %v", method, err)
		}
		switch {
		case answer.Method == "Log.entryAdded", answer.Method == "Runtime.consoleAPICalled", answer.Method == "Runtime.exceptionThrown":
			b.said[answer.SessionID] = append(b.said[answer.SessionID], string(answer.Params))
			continue
		case answer.ID != b.last:
			continue
		case answer.Error != nil:
			p.t.Fatalf("%s: %s", method, answer.Error.Message)
		case result != nil:
			if err := json.Unmarshal(answer.Result, result); err != nil {
				p.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// EvaluateOnPage returns the value of an expression in the page, after its promise if it is one, decoded as JSON.
func EvaluateOnPage[T any](p *Page, expression string) (value T) {
	p.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	p.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if e := answer.ExceptionDetails; e != nil {
		p.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	if err := json.Unmarshal(answer.Result.Value, &value); err != nil {
		p.t.Fatalf("%s: %v in %s", expression, err, answer.Result.Value)
	}
	return value
}

// Said returns the events of the console so far, as JSON: what the page wrote there, its uncaught errors, and the
// browser's messages about it, such as what its policy refused.
func (p *Page) Said() []string {
	p.t.Helper()
	EvaluateOnPage[bool](p, "new Promise(done => setTimeout(done, 0, true))") // events that are under way arrive before
	p.browser.Lock()
	defer p.browser.Unlock()
	return p.browser.said[p.session]
}

// Wait waits until an expression is true.
func (p *Page) Wait(condition string) {
	p.t.Helper()
	for end := time.Now().Add(patience); !EvaluateOnPage[bool](p, "Boolean("+condition+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%s: not after %v", condition, patience)
		}
	}
}

// Resize changes the size of the window.
func (p *Page) Resize(width, height int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Dark chooses between the dark and the light colors of the page.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	value := map[bool]string{false: "light", true: "dark"}[dark]
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// Type enters a text where the focus is.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Press presses and releases a key by its name, such as Tab, Enter or ArrowDown.
func (p *Page) Press(key string) {
	p.t.Helper()
	event := map[string]any{"type": "keyDown", "key": key, "code": key,
		"windowsVirtualKeyCode": map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowUp": 38, "ArrowDown": 40}[key]}
	if text, ok := map[string]string{"Enter": "\r", " ": " "}[key]; ok {
		event["text"] = text
	}
	p.call("Input.dispatchKeyEvent", event, nil)
	event["type"] = "keyUp"
	delete(event, "text")
	p.call("Input.dispatchKeyEvent", event, nil)
}

// Accessible returns the names of the elements with a role, such as button or link, in the order of the page, as its
// accessibility tree tells them to screen readers.
func (p *Page) Accessible(role string) (names []string) {
	p.t.Helper()
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	p.call("Accessibility.getFullAXTree", nil, &tree)
	for _, node := range tree.Nodes {
		if name, ok := node.Name.Value.(string); ok && !node.Ignored && node.Role.Value == role {
			names = append(names, name)
		}
	}
	return names
}

// Overflow returns how many pixels the page is wider than its window.
func (p *Page) Overflow() int {
	p.t.Helper()
	return EvaluateOnPage[int](p, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
}
