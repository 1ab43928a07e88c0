package clusterfunc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/v1alpha1"
)

const secret = "top-secret-word"

// recorded remembers how it was called.
type recorded struct {
	calls []string
	err   error
}

var expires = time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("elsewhere", 3600))

func (r *recorded) ShootAdminKubeconfig(_ context.Context, target *v1alpha1.Target, shoot, namespace string, expiration time.Duration) ([]byte, time.Time, error) {
	r.calls = append(r.calls, fmt.Sprint("shoot ", target.Namespace, " ", target.Name, " ", shoot, " ", namespace, " ", expiration))
	return []byte("kubeconfig"), expires, r.err
}

func (r *recorded) ServiceAccountKubeconfig(_ context.Context, target *v1alpha1.Target, name, namespace string, expiration time.Duration) ([]byte, time.Time, error) {
	r.calls = append(r.calls, fmt.Sprint("account ", target.Namespace, " ", target.Name, " ", name, " ", namespace, " ", expiration))
	return []byte("kubeconfig"), expires, r.err
}

func (r *recorded) OIDCKubeconfig(_ context.Context, target *v1alpha1.Target, issuer, clientID string) ([]byte, error) {
	r.calls = append(r.calls, fmt.Sprint("oidc ", target.Namespace, " ", target.Name, " ", issuer, " ", clientID))
	return []byte("kubeconfig"), r.err
}

func target() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": "edge", "namespace": "shop", "labels": map[string]any{"a": "b"}},
		"spec":     map[string]any{"type": "landscaper.gardener.cloud/kubernetes-cluster", "config": map[string]any{"kubeconfig": secret}},
	}
}

func TestFunctions(t *testing.T) {
	timestamped := map[string]any{"kubeconfig": "a3ViZWNvbmZpZw==", "expirationTimestamp": int64(1893549845), "expirationTimestampReadable": "2030-01-02T02:04:05Z"}
	tests := []struct {
		name   string
		args   []any
		call   string
		result any
		log    string
	}{
		{"getShootAdminKubeconfig", []any{"blue", "garden-shop", int64(3600), target()}, "shoot shop edge blue garden-shop 1h0m0s", "a3ViZWNvbmZpZw==", "shop/edge 1893549845"},
		{"getShootAdminKubeconfigWithExpirationTimestamp", []any{"blue", "garden-shop", 3600.9, target()}, "shoot shop edge blue garden-shop 1h0m0s", timestamped, "shop/edge 1893549845"},
		{"getServiceAccountKubeconfig", []any{"reader", "kube-system", 600, target()}, "account shop edge reader kube-system 10m0s", "a3ViZWNvbmZpZw==", "shop/edge 1893549845"},
		{"getServiceAccountKubeconfigWithExpirationTimestamp", []any{"reader", "kube-system", uint8(60), target()}, "account shop edge reader kube-system 1m0s", timestamped, "shop/edge 1893549845"},
		{"getOidcKubeconfig", []any{"https://login.example.org", "landscape", target()}, "oidc shop edge https://login.example.org landscape", "a3ViZWNvbmZpZw==", "shop/edge never"},
	}
	var names []string
	for _, test := range tests {
		names = append(names, test.name)
		clusters := &recorded{}
		log := ""
		functions := Functions(Options{Clusters: clusters, Log: func(function, target string, expires time.Time) {
			end := fmt.Sprint(expires.Unix())
			if expires.IsZero() {
				end = "never"
			}
			log = strings.Join([]string{function, target, end}, " ")
		}})
		got, err := functions[test.name](t.Context(), test.args)
		if diff := cmp.Diff(test.result, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
		if diff := cmp.Diff([]string{test.call}, clusters.calls); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
		if log != test.name+" "+test.log {
			t.Errorf("%s: log %q", test.name, log)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, Names()); diff != "" {
		t.Errorf("the test knows all functions:\n%s", diff)
	}
}

func TestArgumentErrors(t *testing.T) {
	const (
		shoot   = "getShootAdminKubeconfig"
		account = "getServiceAccountKubeconfigWithExpirationTimestamp"
		oidc    = "getOidcKubeconfig"
	)
	other := target()
	other["kind"] = secret
	wrong := target()
	wrong["spec"] = secret
	bare := target()
	bare["metadata"] = map[string]any{}
	cyclic := target()
	cyclic["cycle"] = cyclic
	tests := []struct {
		reason, name string
		args         []any
		want         string
	}{
		{"none", shoot, nil, "templating function getShootAdminKubeconfig expects 4 arguments: shoot name, shoot namespace, expiration seconds, target; it got 0"},
		{"too many", account, []any{"a", "b", int64(1), target(), "x"}, "templating function getServiceAccountToken expects 4 arguments: "},
		{"too few", oidc, []any{"a", "b"}, "templating function getOidcKubeconfig expects 3 arguments: issuer URL, client ID, target; it got 2"},
		{"no text", shoot, []any{int64(1), "b", int64(1), target()}, "templating function getShootAdminKubeconfig expects a string as 1st argument, namely the shoot name"},
		{"no second text", account, []any{"a", nil, int64(1), target()}, "templating function getServiceAccountToken expects a string as 2nd argument, namely the service account namespace"},
		{"an empty text", account, []any{"a", "", int64(1), target()}, "expects a string as 2nd argument, namely the service account namespace, which must not be empty"},
		{"a text for a number", shoot, []any{"a", "b", secret, target()}, "templating function getShootAdminKubeconfig expects an integer as 3rd argument, namely the expiration seconds"},
		{"no time", shoot, []any{"a", "b", int64(0), target()}, "expects an integer as 3rd argument, namely the expiration seconds, from 1 to 4294967295"},
		{"a negative time", shoot, []any{"a", "b", -1.5, target()}, "from 1 to"},
		{"a time that overflows", shoot, []any{"a", "b", int64(math.MaxInt64), target()}, "from 1 to"},
		{"a large number without sign", shoot, []any{"a", "b", uint64(math.MaxUint64), target()}, "from 1 to"},
		{"no number", shoot, []any{"a", "b", math.NaN(), target()}, "from 1 to"},
		{"an infinite number", shoot, []any{"a", "b", math.Inf(1), target()}, "from 1 to"},
		{"a literal that is too large", shoot, []any{"a", "b", json.Number("1e999"), target()}, "expects an integer as 3rd argument"},
		{"no target", shoot, []any{"a", "b", int64(1), secret}, "templating function getShootAdminKubeconfig expects a target object as 4th argument, namely the target"},
		{"nothing for a target", oidc, []any{"a", "b", nil}, "templating function getOidcKubeconfig expects a target object as 3rd argument"},
		{"another kind", shoot, []any{"a", "b", int64(1), other}, "it is an object of another kind"},
		{"a field of the wrong type", shoot, []any{"a", "b", int64(1), wrong}, "one of its fields has the wrong type"},
		{"only the spec", shoot, []any{"a", "b", int64(1), bare}, "it has no metadata.name or no spec.type"},
		{"a map in itself", shoot, []any{"a", "b", int64(1), cyclic}, "it cannot be encoded"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			clusters := &recorded{}
			_, err := Functions(Options{Clusters: clusters})[test.name](t.Context(), test.args)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if len(clusters.calls) > 0 {
				t.Errorf("the cluster was asked: %v", clusters.calls)
			}
		})
	}
}

// TestOddArguments calls each function with odd arguments at each position.
// Nothing may panic.
func TestOddArguments(t *testing.T) {
	arguments := []any{nil, "", "x", 1, -1.5, uint64(math.MaxUint64), json.Number("x"), []any{nil}, map[string]any(nil), target(), func() {}, make(chan int), struct{}{}, &struct{}{}, []byte("x")}
	for name, function := range Functions(Options{Clusters: &recorded{}}) {
		for length := range 6 {
			for position := range length {
				for _, argument := range arguments {
					args := slices.Repeat([]any{"x"}, length)
					args[position] = argument
					if _, err := function(t.Context(), args); err == nil && length < 3 {
						t.Errorf("%s takes %d arguments", name, length)
					}
				}
			}
		}
	}
}

func TestNoAccess(t *testing.T) {
	complete := map[string][]any{"getOidcKubeconfig": {"a", "b", target()}}
	failure := errors.New("shoots \"blue\" not found")
	logged := 0
	for _, name := range Names() {
		args, ok := complete[name]
		if !ok {
			args = []any{"a", "b", int64(600), target()}
		}
		for reason, test := range map[string]struct {
			options Options
			want    string
		}{
			"no clusters":  {Options{}, "templating function " + name + ": there is no access to clusters here"},
			"switched off": {Options{Clusters: &recorded{}, Disabled: map[string]bool{name: true}}, "templating function " + name + ": the administrator has switched this function off"},
			"a failure":    {Options{Clusters: &recorded{err: failure}, Log: func(string, string, time.Time) { logged++ }}, "templating function " + name + ": shoots \"blue\" not found"},
		} {
			t.Run(reason, func(t *testing.T) {
				got, err := Functions(test.options)[name](t.Context(), args)
				if err == nil || !strings.HasPrefix(err.Error(), test.want) || got != nil {
					t.Errorf("%s: %s: got %v, %v", name, reason, got, err)
				}
				if reason == "a failure" && !errors.Is(err, failure) {
					t.Errorf("%s: the cause is lost", name)
				}
			})
		}
	}
	if logged > 0 {
		t.Error("a kubeconfig that was not delivered is logged")
	}
	// One switched-off function does not touch the others.
	functions := Functions(Options{Clusters: &recorded{}, Disabled: map[string]bool{"getOidcKubeconfig": true}})
	if len(slices.Collect(maps.Keys(functions))) != len(Names()) {
		t.Error("a function that is switched off must say so, not be unknown")
	}
	if _, err := functions["getServiceAccountKubeconfig"](t.Context(), []any{"a", "b", int64(600), target()}); err != nil {
		t.Error(err)
	}
}
