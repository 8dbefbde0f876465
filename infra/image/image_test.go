package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheImageHasTheWorker builds the files of the image with make image, which needs neither Docker nor a
// base image, and checks that the Dockerfile adds just those. As root it runs the entrypoint with these files
// as the whole file system.
func TestTheImageHasTheWorker(t *testing.T) {
	t.Parallel()
	if os.Getenv("TAGNET_FLINK") == "" {
		t.Skip("it builds all packages once more, without cgo: make test-flink runs it")
	}
	bin := t.TempDir()
	c := exec.Command("make", "image", "BIN="+bin)
	c.Dir = filepath.Join("..", "..")
	if output, err := c.CombinedOutput(); err != nil {
		t.Fatalf("make image: %v\n%s", err, output)
	}
	instructions := dockerfile(t)
	want := []string{"FROM scratch", "ADD image.tar /", "USER 65532:65532", "ENV USER=worker HOME=/tmp TMPDIR=/tmp", `ENTRYPOINT ["/opt/apache/beam/boot"]`}
	if diff := cmp.Diff(want, instructions); diff != "" {
		t.Errorf("instructions of the Dockerfile (-want +got):\n%s", diff)
	}
	root := t.TempDir()
	files := unpack(t, filepath.Join(bin, "image.tar"), root)
	wantFiles := []string{
		"755 opt/", "755 opt/apache/", "755 opt/apache/beam/", "755 opt/apache/beam/boot", "755 opt/apache/beam/worker", "1777 tmp/",
	}
	if diff := cmp.Diff(wantFiles, files); diff != "" {
		t.Errorf("mode and name of the files (-want +got):\n%s", diff)
	}
	if os.Getuid() != 0 {
		t.Log("only root can run the image's programs with its files alone")
		return
	}
	for program, says := range map[string]string{"boot": "--worker_pool serves one", "worker": "--worker_binary"} {
		c := exec.Command("/opt/apache/beam/" + program)
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		c.Dir = "/"
		c.Env = strings.Fields(strings.TrimPrefix(want[3], "ENV "))
		output, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(output), says) {
			t.Errorf("%s in the image: %v, and printed %q, want %q", program, err, output, says)
		}
	}
}

// dockerfile returns the instructions of the Dockerfile.
func dockerfile(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var instructions []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			instructions = append(instructions, line)
		}
	}
	return instructions
}

// unpack unpacks an archive and returns the mode and name of each file, and its owner unless that is root. A file of
// another time is an error.
func unpack(t *testing.T, archive, root string) []string {
	t.Helper()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var files []string
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		entry := fmt.Sprintf("%o %s", header.Mode, header.Name)
		if header.Uid != 0 || header.Gid != 0 {
			entry += fmt.Sprintf(" of %d:%d", header.Uid, header.Gid)
		}
		files = append(files, entry)
		if header.ModTime.Unix() != 0 {
			t.Errorf("%s: time %v, which differs between builds", header.Name, header.ModTime)
		}
		path := filepath.Join(root, header.Name)
		if header.Typeflag == tar.TypeDir {
			if err := errors.Join(os.Mkdir(path, 0o755), os.Chmod(path, os.FileMode(header.Mode)&os.ModePerm)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		target, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(target, reader)
		if err := errors.Join(err, target.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestComposeFitsTheVersions checks that the images have the versions of the tested cluster, and that each TaskManager
// has a worker pool in its network.
func TestComposeFitsTheVersions(t *testing.T) {
	t.Parallel()
	pom, err := os.ReadFile(filepath.Join("..", "flink", "pom.xml"))
	if err != nil {
		t.Fatal(err)
	}
	version := func(property string) string {
		found := regexp.MustCompile("<" + property + ">(.*)</" + property + ">").FindSubmatch(pom)
		if found == nil {
			t.Fatalf("no property %s in pom.xml", property)
		}
		return string(found[1])
	}
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, found := range regexp.MustCompile(`(?m)^ *((?:image|network_mode): .*)$`).FindAllStringSubmatch(string(text), -1) {
		got[found[1]]++
	}
	want := map[string]int{
		"image: flink:" + version("flink") + "-java17":                                   1,
		"image: apache/beam_flink" + version("flink") + "_job_server:" + version("beam"): 1,
		"image: tagnet-worker":                1,
		"network_mode: service:taskmanager-1": 1,
		"network_mode: service:taskmanager-2": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("images and networks (-want +got):\n%s", diff)
	}
	// Docker opens a published port to other machines, unless it has an address.
	for _, port := range regexp.MustCompile(`"([0-9.:]*:\d+)"`).FindAllStringSubmatch(string(text), -1) {
		if !strings.HasPrefix(port[1], "127.0.0.1:") {
			t.Errorf("port %s is open to other machines", port[1])
		}
	}
}
