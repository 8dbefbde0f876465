// Package browsertest opens pages in headless Chromium for tests: it measures, types and takes pictures. It speaks the
// DevTools protocol over a pipe, so that no driver and no port is needed. Tests skip where no Chromium is installed.
package browsertest
