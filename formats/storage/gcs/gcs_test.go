package gcs_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/gcs/gcstest"
	"tagnet/formats/storage/storagetest"
)

func TestFileSystem(t *testing.T) {
	storagetest.FileSystem(t, gcstest.Bucket(t)+"/some/folder")
}

func TestRemoveAllRefusesBuckets(t *testing.T) {
	bucket := gcstest.Bucket(t)
	for _, url := range []string{bucket, bucket + "/"} {
		if err := storage.RemoveAll(t.Context(), url); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: error %v", url, err)
		}
	}
}

// TestRefusals checks that an error names the bucket and the remedy.
func TestRefusals(t *testing.T) {
	bucket, proxy := gcstest.FaultyBucket(t, 10*time.Second)
	proxy.Set(gcstest.From(1, gcstest.Forbidden))
	_, read := storage.ReadFile(t.Context(), bucket+"/f")
	_, listed := storage.List(t.Context(), bucket+"/f")
	for _, err := range []error{read, listed, storage.WriteFile(t.Context(), bucket+"/f", nil), storage.Remove(t.Context(), bucket+"/f")} {
		if err == nil || !strings.HasSuffix(err.Error(),
			"gs://bucket/f: 403 Forbidden: injected: Forbidden; the account of these credentials needs the role roles/storage.objectUser on gs://bucket") {
			t.Errorf("error %v", err)
		}
	}
}

// TestRefusedCredentials has the server of tokens refuse a service account.
func TestRefusedCredentials(t *testing.T) {
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error": "invalid_grant", "error_description": "expired"}`)
	}))
	t.Cleanup(tokens.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	account := filepath.Join(t.TempDir(), "account.json")
	if err := storage.WriteJSON(t.Context(), account, map[string]string{
		"type": "service_account", "private_key": string(pem.EncodeToMemory(&block)), "client_email": "a@b", "token_uri": tokens.URL,
	}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", account)
	_, err = storage.ReadFile(t.Context(), "gs://bucket/f")
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "gs://bucket/f") ||
		!strings.HasSuffix(err.Error(), "; log in with gcloud auth application-default login") {
		t.Errorf("error %v", err)
	}
}

func TestBucketThatIsAbsent(t *testing.T) {
	gcstest.Bucket(t)
	_, listed := storage.List(t.Context(), "gs://no-such-bucket/f")
	for _, err := range []error{listed, storage.WriteFile(t.Context(), "gs://no-such-bucket/f", []byte("x")),
		storage.CheckWritable(t.Context(), "gs://no-such-bucket/f")} {
		if err == nil || !strings.Contains(err.Error(), "gs://no-such-bucket/f") ||
			!strings.Contains(err.Error(), "the bucket gs://no-such-bucket does not exist; ") {
			t.Errorf("error %v", err)
		}
	}
	if _, err := storage.ReadFile(t.Context(), "gs://no-such-bucket/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
