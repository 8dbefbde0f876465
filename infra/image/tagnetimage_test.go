package image

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// descriptor refers to a blob of an OCI layout.
type descriptor struct {
	Digest   string
	Platform struct{ OS, Architecture string }
}

// TestTheImageOfTagnet builds the image for one architecture, and compares its configuration and its files. As root it
// runs a command with these files as the whole file system.
func TestTheImageOfTagnet(t *testing.T) {
	t.Parallel()
	if os.Getenv("TAGNET_FLINK") == "" {
		t.Skip("it builds all packages once more, without cgo: make test-flink runs it")
	}
	bin := t.TempDir()
	c := exec.Command("make", "tagnet-image", "BIN="+bin, "ARCHITECTURES=amd64", "VERSION=v1.2.3", "SOURCE=https://example.org/tagnet")
	c.Dir = filepath.Join("..", "..")
	if output, err := c.CombinedOutput(); err != nil {
		t.Fatalf("make tagnet-image: %v\n%s", err, output)
	}
	layout := filepath.Join(bin, "tagnet-image")
	// read decodes a file of the layout.
	read := func(path string, value any) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(layout, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, value); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	blob := func(d descriptor) string { return filepath.Join("blobs", strings.ReplaceAll(d.Digest, ":", "/")) }
	var outer, index struct{ Manifests []descriptor }
	read("index.json", &outer)
	if len(outer.Manifests) != 1 {
		t.Fatalf("%d entries in index.json, want one index", len(outer.Manifests))
	}
	read(blob(outer.Manifests[0]), &index)
	if len(index.Manifests) != 1 || index.Manifests[0].Platform.OS != "linux" || index.Manifests[0].Platform.Architecture != "amd64" {
		t.Fatalf("platforms %+v, want linux/amd64", index.Manifests)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(blob(index.Manifests[0]), &manifest)
	type configuration struct {
		User, WorkingDir     string
		Env, Entrypoint, Cmd []string
		ExposedPorts         map[string]struct{}
		Labels               map[string]string
	}
	var config struct{ Config configuration }
	read(blob(manifest.Config), &config)
	label := "org.opencontainers.image."
	want := configuration{
		User: "65532:65532", WorkingDir: "/data", Env: []string{"HOME=/tmp", "USER=tagnet", "PATH=/usr/local/bin"},
		Entrypoint: []string{"/usr/local/bin/tagnet"}, Cmd: []string{"playground", "--listen", "0.0.0.0:8080", "--open=false"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Labels: map[string]string{
			label + "title": "tagnet", label + "description": "Completes knowledge graphs", label + "licenses": "Apache-2.0", label + "version": "v1.2.3",
			label + "source": "https://example.org/tagnet", label + "documentation": "/usr/share/doc/tagnet/README.md",
		},
	}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if len(manifest.Layers) != 1 {
		t.Fatalf("%d layers, want 1", len(manifest.Layers))
	}
	root := t.TempDir()
	files := unpack(t, extract(t, filepath.Join(layout, blob(manifest.Layers[0]))), root)
	wantFiles := []string{
		"755 etc/", "644 etc/hosts", "755 usr/", "755 usr/local/", "755 usr/local/bin/", "755 usr/local/bin/tagnet", "755 usr/share/", "755 usr/share/doc/",
		"755 usr/share/doc/tagnet/",
		"644 usr/share/doc/tagnet/LICENSE", "644 usr/share/doc/tagnet/README.md", "644 usr/share/doc/tagnet/THIRD_PARTY_LICENSES", "1777 tmp/",
		"755 data/ of 65532:65532",
	}
	if diff := cmp.Diff(wantFiles, files); diff != "" {
		t.Errorf("mode and name of the files (-want +got):\n%s", diff)
	}
	if os.Getuid() != 0 {
		t.Log("only root can run the image's program with its files alone")
		return
	}
	data := filepath.Join(root, "data")
	if err := errors.Join(os.WriteFile(filepath.Join(data, "facts.csv"), []byte("Ada,knows,Ben\nBen,knows,Cleo\n"), 0o644),
		os.Chown(data, 65532, 65532)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // without a name for this machine, Beam waits forever
	defer cancel()
	c = exec.CommandContext(ctx, "/usr/local/bin/tagnet", "preprocess", "--workspace", "people", "--dataset", "facts.csv", "--header", "no")
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	c.Dir = want.WorkingDir
	c.Env = want.Env
	output, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("tagnet preprocess in the image: %v, and printed %q", err, output)
	}
	if _, err := os.Stat(filepath.Join(data, "people", "graph", "manifest.json")); err != nil {
		t.Error(err)
	}
}

// extract uncompresses a layer, and returns the archive.
func extract(t *testing.T, layer string) string {
	t.Helper()
	file, err := os.Open(layer)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(t.TempDir(), "layer.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if _, err := io.Copy(archive, reader); err != nil {
		t.Fatal(err)
	}
	return archive.Name()
}
