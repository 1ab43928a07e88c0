package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// guided are the commands of docs/cli.md that need clusters, in the order in which they
// make sense, with how they end. What is hidden prepares the next ones.
var guided = []struct {
	command string
	code    int
	hidden  bool
}{
	{"targets create kubernetes-cluster --name edge -n shop --target-kubeconfig edge.kubeconfig --flatten -s edge-access -o target.yaml", 0, false},
	{"targets create kubernetes-cluster --name edge --target-kubeconfig edge.kubeconfig --apply", 0, false},
	{"inst create examples/blueprints/shop/database --name database -n shop --target cluster=edge -o database.yaml", 0, false},
	{"inst apply -f landscape -n shop --wait -q", 0, false},
	{"inst inspect -n shop", 0, false},
	{"wait shop -n shop --for deleted --timeout 1s", 5, false},
	{"inst delete shop -n shop --dry-run", 0, false},
	{"inst force-delete shop -n shop --dry-run", 0, false},
	{"inst set-import shop -n shop domain=shop.example.com replicas=3", 0, false},
	{"inst plan shop -n shop", 2, false},
	{"inst set-import shop -n shop arch=arm64", 0, true},
	{"inst reconcile shop -n shop --wait", 2, false},
	{"inst inspect -n shop -f -o wide", 0, false},
	{"inst logs shop -n shop", 0, false},
	{"inst graph -n shop", 0, false},
	{"doctor -n shop", 0, false},
	{"inst delete shop -n shop --yes --wait --timeout 3m", 0, true},
}

// onTerminals are commands whose output on the page is that of a terminal.
var onTerminals = []string{"inst inspect shop -n shop --watch"}

// TestGuide runs the commands of the page on real clusters: they do what the page says.
func TestGuide(t *testing.T) {
	documented := documentedCommands(t)
	for _, command := range onTerminals {
		delete(documented, command)
	}
	run := guide(t)
	for _, step := range guided {
		got := run(step.command, step.code)
		want, found := documented[step.command]
		delete(documented, step.command)
		switch {
		case step.hidden:
		case !found:
			t.Errorf("the page does not show %s", step.command)
		case !looksLike(want, got):
			t.Errorf("%s\nprints\n%s\ninstead of\n%s", step.command, got, want)
		}
	}
	for command := range documented {
		t.Errorf("the page shows %s, which was not run", command)
	}
}

// documentedCommands returns the outputs of the commands on the page by the commands,
// except for those of sections that need no cluster and have tests of their own.
func documentedCommands(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, found := strings.Cut(string(page), "\n## Components\n")
	if !found {
		t.Fatal("the page has no section Components")
	}
	outputs := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		for _, example := range strings.Split(strings.TrimPrefix(block[1], "$ "), "\n$ ") {
			command, output, _ := strings.Cut(example, "\n")
			outputs[strings.TrimPrefix(command, "landscaper-cli ")] = output
		}
	}
	return outputs
}

// guide makes everything that the commands of the page need, and returns what runs them.
func guide(t *testing.T) func(command string, code int) string {
	t.Helper()
	startServer(t, env.ServerKubeconfig)
	forgetServers(t)
	emptyShop(t)
	directory := t.TempDir()
	for _, part := range [][2]string{{"landscape", "../../hack/session/landscape"}, {"examples/blueprints/shop", "../../examples/blueprints/shop"}} {
		if err := os.CopyFS(filepath.Join(directory, part[0]), os.DirFS(part[1])); err != nil {
			t.Fatal(err)
		}
	}
	config, err := clientcmd.LoadFromFile(env.Resource.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = "shop"
	kubeconfig := filepath.Join(directory, "kubeconfig")
	if err := errors.Join(clientcmd.WriteToFile(*config, kubeconfig), os.WriteFile(filepath.Join(directory, "edge.kubeconfig"), []byte(env.TargetKubeconfig), 0o600)); err != nil {
		t.Fatal(err)
	}
	program, err := landscape.Program("landscaper-cli")
	if err != nil {
		t.Fatal(err)
	}
	return func(command string, code int) string {
		t.Helper()
		typed := exec.CommandContext(t.Context(), program, strings.Fields(command)...)
		typed.Dir, typed.Env = directory, []string{"KUBECONFIG=" + kubeconfig, "HOME=" + directory}
		output, err := typed.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := typed.ProcessState.ExitCode(); got != code {
			t.Fatalf("%s: code %d, want %d\n%s", command, got, code, output)
		}
		return string(output)
	}
}

// emptyShop makes the namespace of the page, or empties it: another round may have left
// what is applied there.
func emptyShop(t *testing.T) {
	t.Helper()
	if err := env.Admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	for _, kind := range []client.Object{&v1alpha1.Target{}, &v1alpha1.DataObject{}, &corev1.Secret{}} {
		if err := env.Admin.DeleteAllOf(t.Context(), kind, client.InNamespace("shop")); err != nil {
			t.Fatal(err)
		}
	}
}

// forgetServers removes what servers of other tests have written about themselves.
func forgetServers(t *testing.T) {
	t.Helper()
	leases, healths := &coordinationv1.LeaseList{}, &v1alpha1.LsHealthCheckList{}
	if err := errors.Join(env.Admin.List(t.Context(), leases, client.MatchingFields{"metadata.name": v1alpha1.ServerLease}), env.Admin.List(t.Context(), healths)); err != nil {
		t.Fatal(err)
	}
	var written []client.Object
	for i := range leases.Items {
		written = append(written, &leases.Items[i])
	}
	for i := range healths.Items {
		written = append(written, &healths.Items[i])
	}
	for _, object := range written {
		if err := env.Admin.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
}

// changing is what is different each time: names and jobs that controllers choose, times,
// and how far the Deployment is that never becomes ready.
var changing = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\s+`), " "},
	{regexp.MustCompile(`\b(database|web|server)-[a-z0-9]{5}\b`), "$1-x"},
	{regexp.MustCompile(`\bpod web-[a-z0-9]+-[a-z0-9]{5}\b`), "pod POD"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "JOB"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\bv\d+\.\d+\.\d+\b`), "VERSION"},
	{regexp.MustCompile(`status\.\w+ is \d+, spec\.replicas is 3|its controller has seen generation \d+, not yet \d+`), "NOT READY"},
	// The page leaves lines of progress out.
	{regexp.MustCompile(`( \d+s shop \([^)]*\): .*?)+ \[❌`), " […] [❌"},
}

// looksLike compares an output with the one on the page, where … stands for anything, and
// on a line of its own for any lines or none.
func looksLike(want, got string) bool {
	for _, change := range changing {
		want, got = change.what.ReplaceAllString(want, change.as), change.what.ReplaceAllString(got, change.as)
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), " … ", " (.* )?")
	pattern = strings.ReplaceAll(pattern, "…", ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimSpace(got))
}

func TestLooksLike(t *testing.T) {
	for _, test := range []struct {
		reason, want, got string
		alike             bool
	}{
		{"lines are left out", "a\n…\nb", "a\nx\ny\nb", true},
		{"an ellipsis may stand for no line", "a\n…\nb", "a\nb", true},
		{"a part of a line is left out", "a …: b", "a xyz: b", true},
		{"a line is missing", "a\n…\nb", "a\nx", false},
		{"a line is another one", "a\nb", "a\nc", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if alike := looksLike(test.want, test.got); alike != test.alike {
				t.Errorf("alike: %t", alike)
			}
		})
	}
}
