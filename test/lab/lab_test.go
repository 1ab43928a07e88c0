package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// get asks an API server, as a test without a Kubernetes client does.
func get(ctx context.Context, cluster *Cluster, server, token, path string) (int, string, error) {
	authority, err := os.ReadFile(cluster.CAFile)
	if err != nil {
		return 0, "", err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+path, nil)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// TestLab goes through what the client offers, in one lab.
func TestLab(t *testing.T) {
	logs := t.TempDir()
	t.Setenv("LAB_LOGS", logs)
	ctx := t.Context()
	l, err := Start(ctx, Options{Clusters: []string{"one"}, With: []string{"git", "registry"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(l.Directory); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after Down, the directory is there (%v)", err)
		}
		if kept, err := os.ReadFile(filepath.Join(logs, l.Name, "one", "apiserver.log")); err != nil || len(kept) == 0 {
			t.Errorf("the API server's log was not kept (%v)", err)
		}
	})
	cluster := l.Clusters["one"]
	if status, body, err := get(ctx, cluster, cluster.Server, cluster.Token, "/readyz"); status != http.StatusOK {
		t.Fatalf("readyz: %d %s (%v)", status, body, err)
	}
	t.Run("users and requests", func(t *testing.T) { usersAndRequests(t, cluster) })
	t.Run("faults", func(t *testing.T) { faults(t, cluster) })
	t.Run("components", func(t *testing.T) { components(t, l) })
	t.Run("services", func(t *testing.T) { services(t, l) })
}

func usersAndRequests(t *testing.T, cluster *Cluster) {
	ctx := t.Context()
	user, err := cluster.AddUser(ctx, UserOptions{Name: "reader", ClusterRoles: []string{"view"}})
	if err != nil {
		t.Fatal(err)
	}
	mark, err := cluster.Mark(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/api/v1/namespaces/default/configmaps": http.StatusOK,
		"/api/v1/namespaces/default/secrets":    http.StatusForbidden,
	} {
		if status, _, err := get(ctx, cluster, user.Server, user.Token, path); status != want || err != nil {
			t.Errorf("%s: %d (%v), want %d", path, status, err, want)
		}
	}
	requests, err := cluster.Requests(ctx, mark, "reader")
	if err != nil {
		t.Fatal(err)
	}
	statuses := map[string]int{}
	for _, request := range requests {
		statuses[request.Verb+" "+request.Resource] = request.Status
	}
	if len(requests) != 2 || statuses["list configmaps"] != 200 || statuses["list secrets"] != 403 {
		t.Errorf("requests %+v", requests)
	}
}

func faults(t *testing.T, cluster *Cluster) {
	ctx := t.Context()
	user, err := cluster.AddUser(ctx, UserOptions{Name: "unlucky", Groups: []string{"system:masters"}, ThroughProxy: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.SetFaults(ctx, Faults{Seed: 1, Rules: []Rule{
		{Name: "none", Resources: []string{"configmaps"}, Share: 1, Action: "status", Status: 500},
		{Name: "slow", Resources: []string{"secrets"}, Share: 1, Action: "delay", Delay: "1ms"},
	}}); err != nil {
		t.Fatal(err)
	}
	const maps = "/api/v1/namespaces/default/configmaps"
	if status, _, err := get(ctx, cluster, user.Server, user.Token, maps); status != http.StatusInternalServerError {
		t.Errorf("with the fault: %d (%v)", status, err)
	}
	decisions, err := cluster.Decisions(ctx)
	if err != nil || len(decisions) != 1 || !decisions[0].Hit || decisions[0].Rule != "none" || decisions[0].Request.Resource != "configmaps" {
		t.Errorf("decisions %+v (%v)", decisions, err)
	}
	if err := cluster.SetFaults(ctx, Faults{}); err != nil {
		t.Fatal(err)
	}
	if status, _, err := get(ctx, cluster, user.Server, user.Token, maps); status != http.StatusOK {
		t.Errorf("without the fault: %d (%v)", status, err)
	}
	if err := cluster.CutConnections(ctx); err != nil {
		t.Error(err)
	}
}

func components(t *testing.T, l *Lab) {
	ctx, cluster := t.Context(), l.Clusters["one"]
	if err := l.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	before := map[string]int{}
	for _, component := range l.Components {
		before[component.Name] = component.Restarts
	}
	if err := l.Kill(ctx, "one/apiserver"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(ctx, cluster, cluster.Server, cluster.Token, "/readyz"); err == nil {
		t.Error("a killed API server answers")
	}
	if err := l.Restart(ctx, "one/apiserver"); err != nil {
		t.Fatal(err)
	}
	if status, _, err := get(ctx, cluster, cluster.Server, cluster.Token, "/readyz"); status != http.StatusOK {
		t.Errorf("after the restart: %d (%v)", status, err)
	}
	if err := l.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	for _, component := range l.Components {
		if component.State != "running" || component.MemoryBytes == 0 {
			t.Errorf("component %+v", component)
		}
		if component.Name == "one/apiserver" && component.Restarts <= before[component.Name] {
			t.Errorf("the API server was restarted %d times, %d before", component.Restarts, before[component.Name])
		}
	}
	if log, err := l.Logs(ctx, "supervisor"); err != nil || !strings.Contains(log, "restarted") {
		t.Errorf("the supervisor's log does not report the restart (%v)", err)
	}
	if err := l.Kill(ctx, "one/nothing"); err == nil || !strings.Contains(err.Error(), "one/etcd") {
		t.Errorf("kill of a missing component: %v, want an error that lists the components", err)
	}
}

func services(t *testing.T, l *Lab) {
	repository, err := l.CreateRepository(t.Context(), "demo")
	if err != nil || !strings.HasPrefix(repository.HTTP, l.Git.HTTP) || !strings.HasPrefix(repository.SSH, l.Git.SSH) {
		t.Errorf("repository %+v (%v)", repository, err)
	}
	response, err := http.Get(l.Registry.URL + "/v2/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("registry: %s", response.Status)
	}
}

func TestMissingProgramIsExplained(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Program(); err == nil || !strings.Contains(err.Error(), "LAB_BIN") {
		t.Errorf("outside the repository: %v, want an error that says what to set", err)
	}
	if err := os.Mkdir("lab", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("lab/go.mod", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Program(); err == nil || !strings.Contains(err.Error(), "make -C") {
		t.Errorf("before the first build: %v, want an error that says how to build", err)
	}
}
