package targets_test

import (
	"encoding/base64"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/targets"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/cluster/login"
)

const kubeconfig = `apiVersion: v1
kind: Config
current-context: edge
clusters:
- {name: edge, cluster: {server: https://edge.example.org, certificate-authority: ca.crt}}
- {name: plain, cluster: {server: https://plain.example.org}}
users:
- {name: admin, user: {token: secret}}
- {name: program, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: login}}}
- {name: file, user: {tokenFile: token}}
- {name: other, user: {token: secret, as: root}}
contexts:
- {name: edge, context: {cluster: edge, user: admin}}
- {name: plain, context: {cluster: plain, user: admin}}
- {name: login, context: {cluster: plain, user: program}}
- {name: file, context: {cluster: plain, user: file}}
- {name: other, context: {cluster: plain, user: other}}
`

// oneKubeconfig is complete, and has nothing that is to be left out.
const oneKubeconfig = `apiVersion: v1
kind: Config
# as it was written
current-context: edge
contexts: [{name: edge, context: {cluster: edge}}]
clusters: [{name: edge, cluster: {server: https://edge}}]
`

// authority is a certificate in PEM form.
func authority(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

func run(t *testing.T, line string) (int, *terminaltest.Console) {
	t.Helper()
	c := &terminaltest.Console{Environment: map[string]string{terminal.ExitCodesVariable: "2"}}
	return terminal.Run(t.Context(), targets.NewCommand(c.Streams()), c.Streams(), terminaltest.Fields(line)), c
}

// files writes what the commands read. The authority in ca.crt is returned as it is embedded.
func files(t *testing.T) (authorities string) {
	t.Helper()
	authorities = authority(t)
	terminaltest.WriteFiles(t, map[string]string{
		"all.kubeconfig": kubeconfig, "one.kubeconfig": oneKubeconfig, "empty.kubeconfig": "", "ca.crt": authorities,
	})
	return base64.StdEncoding.EncodeToString([]byte(authorities))
}

func TestCreate(t *testing.T) {
	authorities := files(t)
	in64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	const head = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Target\nmetadata:\n  name: edge\n  namespace: shop\nspec:\n"
	const kind = "  type: landscaper.gardener.cloud/kubernetes-cluster\n"
	for _, test := range []struct{ reason, args, want string }{
		{"in the Target, as it was written", "create kubernetes-cluster --name edge -n shop --target-kubeconfig one.kubeconfig",
			head + "  config:\n    kubeconfig: |\n" + regexp.MustCompile("(?m)^(.+)$").ReplaceAllString(oneKubeconfig, "      $1") + kind + "\n"},
		{"in a Secret, with all of the Target's content", "c k8s-cluster --name edge -n shop --target-kubeconfig one.kubeconfig -s access",
			"apiVersion: v1\ndata:\n  config: " + in64(`{"kubeconfig":"`+strings.ReplaceAll(oneKubeconfig, "\n", `\n`)+`"}`) + "\nkind: Secret\nmetadata:\n  name: access\n  namespace: shop\n---\n" +
				head + "  secretRef:\n    key: config\n    name: access\n" + kind + "\n"},
		{"in a Secret as it is", "c k8s-cluster --name edge -n shop --target-kubeconfig one.kubeconfig -s access --key kubeconfig",
			"apiVersion: v1\ndata:\n  kubeconfig: " + in64(oneKubeconfig) + "\nkind: Secret\nmetadata:\n  name: access\n  namespace: shop\n---\n" +
				head + "  secretRef:\n    key: kubeconfig\n    name: access\n" + kind + "\n"},
		{"the resource cluster itself", "create self --name edge -n shop --service-account deployer",
			head + "  config:\n    selfConfig:\n      serviceAccount:\n        name: deployer\n" + kind + "\n"},
		{"a cluster that trusts this one", "create oidc --name edge -n shop --service-account deployer --server https://edge --audience a --ca-file ca.crt --expiration-seconds 600",
			head + "  config:\n    oidcConfig:\n      audience:\n      - a\n      caData: " + authorities + "\n      expirationSeconds: 600\n      server: https://edge\n      serviceAccount:\n        name: deployer\n" + kind + "\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			code, c := run(t, test.args)
			if code != 0 || c.Out.String() != test.want {
				t.Errorf("code %d, %s\n%s", code, c.Err.String(), c.Out.String())
			}
		})
	}
}

// TestCreateReduced: what is left of a larger kubeconfig works on any machine.
func TestCreateReduced(t *testing.T) {
	authorities := files(t)
	code, c := run(t, "create k8s-cluster --name edge --target-kubeconfig all.kubeconfig --context edge --flatten -o edge.yaml")
	if code != 0 || c.Out.String() != "Wrote target to edge.yaml\n" {
		t.Fatalf("code %d: %s%s", code, c.Out.String(), c.Err.String())
	}
	written, err := os.ReadFile("edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	target := &v1alpha1.Target{}
	if err := yamltext.Unmarshal(written, yamltext.Lenient(), target); err != nil {
		t.Fatal(err)
	}
	content, err := login.ParseContent(target.Spec.Configuration.RawMessage)
	if err != nil {
		t.Fatal(err)
	}
	text := *content.Kubeconfig.StrVal
	if !strings.Contains(text, "certificate-authority-data: "+authorities) || strings.Contains(text, "plain") || strings.Contains(text, "exec") {
		t.Errorf("%s", text)
	}
	if info, err := os.Stat("edge.yaml"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
}

func TestCreateRefuses(t *testing.T) {
	files(t)
	for _, test := range []struct{ reason, args, want string }{
		{"no name", "create kubernetes-cluster --target-kubeconfig one.kubeconfig", `required flag(s) "name" not set`},
		{"no kubeconfig", "create kubernetes-cluster --name edge", `required flag(s) "target-kubeconfig" not set`},
		{"no such file", "create kubernetes-cluster --name edge --target-kubeconfig none", "no such file"},
		{"a file beside it", "create kubernetes-cluster --name edge --target-kubeconfig all.kubeconfig --context edge", "embed it with --flatten"},
		{"a program", "create kubernetes-cluster --name edge --target-kubeconfig all.kubeconfig --context login", "runs a program"},
		{"a token in a file, which is not embedded", "create kubernetes-cluster --name edge --target-kubeconfig all.kubeconfig --context file --flatten", "put the token itself into the kubeconfig"},
		{"a user with a field that a Target may not have", "create kubernetes-cluster --name edge --target-kubeconfig all.kubeconfig --context other", "users[0].user.as, which is not allowed"},
		{"nothing in it", "create kubernetes-cluster --name edge --target-kubeconfig empty.kubeconfig", "empty.kubeconfig: the kubeconfig has no current-context"},
		{"no such context", "create kubernetes-cluster --name edge --target-kubeconfig all.kubeconfig --context x", `there is no context "x"`},
		{"a key without a Secret", "create kubernetes-cluster --name edge --target-kubeconfig one.kubeconfig --key kubeconfig", "name the Secret with --secret"},
		{"no account", "create self --name edge", "name the ServiceAccount"},
		{"no audience", "create oidc --name edge --service-account a --server https://edge", "name the address of the cluster"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if code, c := run(t, test.args); code == 0 || !strings.Contains(c.Err.String(), test.want) || c.Out.Len() > 0 {
				t.Errorf("code %d, %q", code, c.Err.String())
			}
		})
	}
}
