package shootflux

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestHealth: a process that waits for its caches lives, and is not ready.
func TestHealth(t *testing.T) {
	for _, test := range []struct {
		path   string
		synced bool
		want   int
	}{
		{"/healthz", false, http.StatusOK},
		{"/readyz", false, http.StatusServiceUnavailable},
		{"/readyz", true, http.StatusOK},
		{"/metrics", true, http.StatusNotFound},
	} {
		answer := httptest.NewRecorder()
		handler := health(func(context.Context) bool { return test.synced })
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, test.path, nil))
		if answer.Code != test.want {
			t.Errorf("%s with caches filled %t: %d, want %d", test.path, test.synced, answer.Code, test.want)
		}
	}
}
