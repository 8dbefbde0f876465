package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// unpack extracts a zip file into a folder. It refuses names that lead out of the folder, and extracts nothing but
// folders and regular files; those that the archive marks executable are. Files that exist are overwritten, since wheels
// of one project share some.
func unpack(archive, folder string) error {
	reader, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("unpacking %s: %w", filepath.Base(archive), err)
	}
	defer reader.Close()
	for _, file := range reader.File {
		if err := extract(file, folder); err != nil {
			return fmt.Errorf("unpacking %s: %s: %w", filepath.Base(archive), file.Name, err)
		}
	}
	return nil
}

func extract(file *zip.File, folder string) (err error) {
	if !filepath.IsLocal(file.Name) {
		return errors.New("the name leads out of the folder")
	}
	path := filepath.Join(folder, file.Name)
	mode := file.Mode()
	if mode.IsDir() {
		return os.MkdirAll(path, 0o755)
	}
	if !mode.IsRegular() {
		return errors.New("neither a folder nor a regular file")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	content, err := file.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	permissions := os.FileMode(0o644)
	if mode&0o100 != 0 {
		permissions = 0o755
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, permissions)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}
