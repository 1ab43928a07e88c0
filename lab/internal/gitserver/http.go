package gitserver

import (
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// newHTTPHandler serves with the program that comes with Git.
func newHTTPHandler(config Config) (http.Handler, error) {
	output, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("ask Git for its programs (is git installed?): %w", err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(output)), "git-http-backend"),
		Env: append(environment(),
			"GIT_PROJECT_ROOT="+config.Repositories, "GIT_HTTP_EXPORT_ALL=1"),
		Stderr: os.Stderr,
	}
	return authenticated(config, withLength(backend)), nil
}

func authenticated(config Config, next http.Handler) http.Handler {
	if config.Username == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		username, password, _ := r.BasicAuth()
		if !equal(username, config.Username) || !equal(password, config.Password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="lab"`)
			http.Error(w, "a user name and a password are needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// withLength gives a request a length, which CGI wants to know in advance and
// Git does not tell for large pushes.
func withLength(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength >= 0 {
			next.ServeHTTP(w, r)
			return
		}
		spool, err := os.CreateTemp("", "lab-git-")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer spool.Close()
		_ = os.Remove(spool.Name()) // the open file stays readable
		length, err := io.Copy(spool, r.Body)
		if err == nil {
			_, err = spool.Seek(0, io.SeekStart)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength, r.TransferEncoding = spool, length, nil
		next.ServeHTTP(w, r)
	})
}
