package connection

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestNow: ages are counted by the clock of the API server.
func TestNow(t *testing.T) {
	for _, test := range []struct {
		reason string
		date   string
		want   time.Duration
	}{
		{"the clocks agree", time.Now().UTC().Format(http.TimeFormat), 0},
		{"the API server is an hour ahead", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), time.Hour},
		{"the API server is behind", time.Now().Add(-24 * time.Hour).UTC().Format(http.TimeFormat), -24 * time.Hour},
		{"the API server returns an invalid time", "soon", 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
				out.Header().Set("Date", test.date)
				out.Header().Set("Content-Type", "application/json")
				_, _ = out.Write([]byte(`{"apiVersion":"landscaper.gardener.cloud/v1alpha1","kind":"InstallationList","items":[]}`))
			}))
			defer server.Close()
			f := &Flags{}
			f.overrides.ClusterInfo.Server = server.URL
			on, err := f.Connect()
			if err != nil {
				t.Fatal(err)
			}
			for _, reader := range []client.Reader{on.Client, on.Watches} {
				if err := reader.List(t.Context(), &v1alpha1.InstallationList{}); err != nil {
					t.Fatal(err)
				}
				// The answer may have been on the way for long.
				if got := time.Until(on.Now()); (got - test.want).Abs() > time.Minute {
					t.Errorf("off by %s, want %s", got, test.want)
				}
			}
		})
	}
}
