package traffic

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cluster/failure"
)

func TestResultOf(t *testing.T) {
	tests := []struct {
		reason  string
		code    int
		refused error
		want    string
	}{
		{"an answer", 201, nil, "ok"},
		{"no permission", 403, nil, "refused"},
		{"no credentials", 401, nil, "refused"},
		{"nothing there", 404, nil, "not_found"},
		{"somebody was faster", 409, nil, "conflict"},
		{"too many requests", 429, nil, "throttled"},
		{"the object is not valid", 422, nil, "invalid"},
		{"the server is ill", 503, errors.New("the answer cannot be read"), "server_error"},
		{"an answer that we do not take", 200, failure.ErrMediaType, "not_allowed"},
		{"a redirect", 302, failure.ErrRedirect, "not_allowed"},
		{"a request that we do not send", 0, failure.ErrPlain, "not_allowed"},
		{"nobody there", 0, errors.New("no route"), "not_answered"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var response *http.Response
			if test.code != 0 {
				response = &http.Response{StatusCode: test.code}
			}
			if got := resultOf(response, test.refused); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestVerbOf(t *testing.T) {
	for target, want := range map[string]string{"GET /a": "read", "GET /a?watch=true": "watch", "GET /a?x=watch=": "read", "POST /a": "create", "HEAD /a": "other"} {
		t.Run(target, func(t *testing.T) {
			method, path, _ := strings.Cut(target, " ")
			request, err := http.NewRequestWithContext(t.Context(), method, "https://host"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := verbOf(request); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
