package cli

import (
	"testing"
	"time"

	"go.landscaper.dev/test/lab"
)

// TestWatchShowsAtOnce: the first picture costs one watch for each kind, and no wait: it
// is there within 300 ms, or on a slow machine as soon as what a plain list takes allows.
func TestWatchShowsAtOnce(t *testing.T) {
	namespace := newNamespace(t)
	plant(t, namespace, "shop", "", "shop-item", "Progressing")
	user, err := resource.AddUser(t.Context(), lab.UserOptions{Name: "watching", ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		t.Fatal(err)
	}
	const tries = 5
	first, plain := time.Hour, time.Hour
	for range tries {
		began := time.Now()
		if got := cli(t, resource.Kubeconfig, "inst", "inspect", "-n", namespace); got.code != 0 {
			t.Fatalf("%+v", got)
		}
		plain = min(plain, time.Since(began))
		mark, err := resource.Mark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		p := begin(t, user.Kubeconfig, "inst", "inspect", "-n", namespace, "--watch")
		p.out.await(t, "DeployItem "+namespace+"/shop-item: Progressing\n")
		first = min(first, time.Since(began))
		requests, err := resource.Requests(t.Context(), mark, "watching")
		if err != nil {
			t.Fatal(err)
		}
		for _, request := range requests {
			if request.Verb != "watch" || len(requests) != 3 {
				t.Errorf("%d requests, want one watch for each kind: %+v", len(requests), requests)
				break
			}
		}
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
	}
	t.Logf("the first picture took %s, inspect %s", first.Round(time.Millisecond), plain.Round(time.Millisecond))
	if limit := max(300*time.Millisecond, 3*plain); first > limit {
		t.Errorf("the first picture took %s, more than %s", first, limit)
	}
}
