package cli

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestQueuedItem: an item that got its job without a write, as in a server whose deployer is busy
// or that was killed, is reported as waiting for its deployer.
func TestQueuedItem(t *testing.T) {
	const queued = "no deployer has picked it up yet"
	namespace := newNamespace(t)
	plant(t, namespace, "shop", "", "shop-item", "Progressing")
	update(t, newItem(namespace, "shop", "shop-item"), func(d *v1alpha1.DeployItem) { d.Status = v1alpha1.DeployItemStatus{} })
	for _, test := range []struct{ line, want string }{
		{"inst inspect shop", "[🏗️ Progressing] Installation shop\n    Waiting: " + queued},
		{"inst inspect shop -o tree-json", `"state":"Waiting","ready":false,"outdated":true,"reason":"Queued"`},
		{"inst graph shop", "[Progressing] shop"},
	} {
		got := cli(t, resource.Kubeconfig, append(strings.Fields(test.line), "-n", namespace)...)
		if !strings.Contains(got.out+got.err, test.want) {
			t.Errorf("%s: %q is missing: %+v", test.line, test.want, got)
		}
	}
	p := begin(t, resource.Kubeconfig, "inst", "wait", "shop", "-n", namespace)
	p.err.await(t, "s  shop (Progressing): DeployItem shop-item: "+queued)
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
	p = begin(t, resource.Kubeconfig, "inst", "inspect", "shop", "--watch", "-n", namespace)
	p.out.await(t, "DeployItem "+namespace+"/shop-item: "+queued)
	update(t, newItem(namespace, "shop", "shop-item"), itemJob("job-1", "Progressing", ""))
	p.out.await(t, "DeployItem "+namespace+"/shop-item: Progressing\n")
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
}
