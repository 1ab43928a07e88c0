package connection

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"go.landscaper.dev/internal/cli/terminal"
)

// kubeconfig has two contexts, of which the first is the current one.
const kubeconfig = `
apiVersion: v1
kind: Config
current-context: shop
clusters:
- {name: near, cluster: {server: "https://near.example.org"}}
- {name: far, cluster: {server: "https://far.example.org"}}
users:
- {name: alice, user: {token: of-alice}}
- {name: bob, user: {token: of-bob}}
contexts:
- {name: shop, context: {cluster: near, user: alice, namespace: team-a}}
- {name: spare, context: {cluster: far, user: bob}}
`

// flagsFor are the flags of a command line. What the machine has stays out of it.
func flagsFor(t *testing.T, args ...string) *Flags {
	t.Helper()
	for name, value := range map[string]string{"KUBECONFIG": "", "HOME": t.TempDir(), "KUBERNETES_SERVICE_HOST": "", "KUBERNETES_SERVICE_PORT": ""} {
		t.Setenv(name, value)
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	flags, command := &Flags{}, &cobra.Command{}
	flags.Add(command)
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "FILE", file)
	}
	if err := command.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return flags
}

// TestConnect: which cluster, as whom, and in which namespace, as kubectl would do it.
func TestConnect(t *testing.T) {
	for _, test := range []struct {
		reason                  string
		args                    []string
		host, token, space, why string
	}{
		{"the current context", []string{"--kubeconfig=FILE"}, "https://near.example.org", "of-alice", "team-a", "(context shop)"},
		{"another context, which has no namespace", []string{"--kubeconfig=FILE", "--context=spare"}, "https://far.example.org", "of-bob", "default", "(context spare)"},
		{"another namespace", []string{"--kubeconfig=FILE", "-n", "team-b"}, "https://near.example.org", "of-alice", "team-b", ""},
		{"another user", []string{"--kubeconfig=FILE", "--user=bob"}, "https://near.example.org", "of-bob", "team-a", ""},
		{"another cluster", []string{"--kubeconfig=FILE", "--cluster=far"}, "https://far.example.org", "of-alice", "team-a", "the cluster https://far.example.org"},
		{"an address and a token alone", []string{"--server=https://bare.example.org", "--token=mine"}, "https://bare.example.org", "mine", "default", "the cluster https://bare.example.org"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c, err := flagsFor(t, test.args...).Connect()
			if err != nil {
				t.Fatal(err)
			}
			if c.Config.Host != test.host || c.Config.BearerToken != test.token || c.Namespace != test.space || !strings.Contains(c.Where, test.why) {
				t.Errorf("%s with %s in %s, called %q", c.Config.Host, c.Config.BearerToken, c.Namespace, c.Where)
			}
			if strings.Contains(c.Where, test.token) {
				t.Errorf("the token is in what is said: %s", c.Where)
			}
		})
	}
}

// TestNowhere: what is said when there is no cluster to talk to.
func TestNowhere(t *testing.T) {
	for _, test := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"nothing says where", nil, "name a kubeconfig with --kubeconfig or $KUBECONFIG"},
		{"a file that is not there", []string{"--kubeconfig=FILE.yaml"}, "no such file"},
		{"a context that is not there", []string{"--kubeconfig=FILE", "--context=shpo"}, `context "shpo" does not exist`},
		{"a user that is not there", []string{"--kubeconfig=FILE", "--user=carol"}, "carol"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if c, err := flagsFor(t, test.args...).Connect(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v, want %q", c, err, test.want)
			}
		})
	}
}

// TestEntries: what tab proposes comes from the kubeconfig, without a request.
func TestEntries(t *testing.T) {
	for kind, want := range map[entry][]string{contexts: {"shop", "spare"}, clusters: {"far", "near"}, users: {"alice", "bob"}} {
		got, _ := flagsFor(t, "--kubeconfig=FILE").completeEntries(kind)(&cobra.Command{}, nil, "")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if got, _ := flagsFor(t, "--kubeconfig=FILE.yaml").completeEntries(contexts)(&cobra.Command{}, nil, ""); len(got) != 0 {
		t.Errorf("without a kubeconfig, tab proposes %v", got)
	}
}

// TestExplainUnauthorized: who is not known learns that, and where.
func TestExplainUnauthorized(t *testing.T) {
	c := &Connection{Where: "the cluster c", Namespace: "team-a"}
	err := c.Explain(apierrors.NewUnauthorized("who?"))
	if terminal.ExitCode(err, true) != terminal.ExitForbidden || !strings.Contains(err.Error(), "the cluster c does not accept the credentials") {
		t.Errorf("got %v", err)
	}
	if err := c.Missing("shop"); terminal.ExitCode(err, true) != terminal.ExitNotFound || !strings.Contains(err.Error(), "no Installation shop in namespace team-a") {
		t.Errorf("got %v", err)
	}
}
