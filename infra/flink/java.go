package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed pom.xml
var pom []byte

const install = "install Java 17 and Maven (Debian and Ubuntu: apt-get install openjdk-17-jre-headless maven)"

// Java returns the path of the java program: that of JAVA_HOME, or of the PATH.
func Java() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		path := filepath.Join(home, "bin", "java")
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("JAVA_HOME is %s: %w; set it to the folder of Java 17, or unset it", home, err)
		}
		return path, nil
	}
	path, err := exec.LookPath("java")
	if err != nil {
		return "", fmt.Errorf("finding Java, which Flink needs: %w; %s", err, install)
	}
	return path, nil
}

// notUploaded is a folder whose files the job server does not send to the JobManager with each job. The cluster has
// them on its classpath, and their upload takes longer than a small job. There is no option for it; Beam leaves out any
// path with this text.
const notUploaded = "gradle/wrapper"

// Jars returns the folder of the jars of Flink and of Beam's job server. The first call downloads them with Maven into
// the user's cache folder, 152 MB, and says so on standard error; a changed pom.xml gets a folder of its own.
func Jars(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache folder for Flink's jars: %w", err)
	}
	folder := filepath.Join(cache, "tagnet", fmt.Sprintf("flink-%.4x", sha256.Sum256(pom)), notUploaded)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	maven, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("finding Maven, which downloads the jars of Flink: %w; %s", err, install)
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return "", fmt.Errorf("making the cache folder for Flink's jars: %w", err)
	}
	// The jars appear together, so that a download that was interrupted is not taken for a complete one.
	work, err := os.MkdirTemp(filepath.Dir(folder), "download-*")
	if err != nil {
		return "", fmt.Errorf("making the cache folder for Flink's jars: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), pom, 0o666); err != nil {
		return "", fmt.Errorf("writing Maven's project file: %w", err)
	}
	fmt.Fprintf(os.Stderr, "downloading the jars of Flink and of Beam's job server to %s (152 MB, some minutes)\n", folder)
	c := exec.CommandContext(ctx, maven, "--quiet", "--batch-mode", "dependency:copy-dependencies", "-DoutputDirectory=lib", "-DincludeScope=runtime")
	c.Dir = work
	if output, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("downloading Flink's jars with %s: %w: %s; Maven needs a mirror of Maven Central that it reaches (settings.xml)",
			maven, err, firstError(string(output)))
	}
	if err := os.Rename(filepath.Join(work, "lib"), folder); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("keeping Flink's jars: %w", err)
	}
	return folder, nil
}

// firstError returns the first line of Maven's output that is an error.
func firstError(output string) string {
	for line := range strings.Lines(output) {
		if _, text, found := strings.Cut(line, "[ERROR]"); found {
			return strings.TrimSpace(text)
		}
	}
	return strings.TrimSpace(output)
}

// opens lets Flink use what Java 17 closes.
func opens() []string {
	var options []string
	for _, part := range []string{"lang", "util", "nio", "net", "io", "util.concurrent", "time"} {
		options = append(options, "--add-opens=java.base/java."+part+"=ALL-UNNAMED")
	}
	return options
}
