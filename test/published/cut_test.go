package published

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/kube"
	helmrelease "helm.sh/helm/v4/pkg/release"
	"helm.sh/helm/v4/pkg/release/common"
	"k8s.io/client-go/rest"
)

// errCut is what Helm sees of the cluster when its upgrade is cut.
var errCut = errors.New("the connection is cut")

// cutter lets so many requests that write reach a cluster, and then none at all, like the end of the
// machine on which Helm runs.
type cutter struct {
	http.RoundTripper
	left *atomic.Int64
}

func (c cutter) RoundTrip(request *http.Request) (*http.Response, error) {
	writes := request.Method != http.MethodGet && !strings.Contains(request.URL.RawQuery, "dryRun")
	if writes && c.left.Add(-1) < 0 || c.left.Load() < 0 {
		return nil, errCut
	}
	return c.RoundTripper.RoundTrip(request)
}

// cutAfter is Helm that is cut after so many requests that write.
func cutAfter(t *testing.T, writes int) (helm, *atomic.Int64) {
	t.Helper()
	left := &atomic.Int64{}
	left.Store(int64(writes))
	return newHelmBy(t, func(config *rest.Config) *rest.Config {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return cutter{next, left} })
		return config
	}), left
}

// TestEarlierCut cuts an upgrade from the release of an earlier commit after each request with which
// Helm writes. Whichever program runs then, it works; and the way that docs/release.md describes,
// back and again, ends in the new release.
func TestEarlierCut(t *testing.T) {
	before := objects(t)
	u := installEarlier(t)
	all := begin(t, "rest", 1)
	succeed(t, all)
	u.helm.version = bare
	next := u.helm.chart(t)
	cuts := 0
	for ; u.cut(t, next, cuts); cuts++ {
		working := begin(t, fmt.Sprintf("cut-%d", cuts), 1)
		succeed(t, working)
		u.repair(t, cuts)
		all = append(all, working...)
	}
	t.Logf("an upgrade of Helm writes %d times", cuts)
	if cuts < 10 {
		t.Errorf("only %d cuts were tried", cuts)
	}
	wantImage(t, "landscaper", 1)
	u.remove(t, all)
	u.helm.uninstall(t)
	wantLeft(t, before, afterUninstall)
	removeAll(t, before)
}

// cut says whether an upgrade was cut after so many requests that write; it was not, if it has no
// more of them.
func (u *upgrading) cut(t *testing.T, next chart.Charter, writes int) bool {
	t.Helper()
	cut, left := cutAfter(t, writes)
	upgrade := action.NewUpgrade(cut.Configuration)
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.Timeout = space, kube.StatusWatcherStrategy, waitLimit
	_, err := upgrade.RunWithContext(t.Context(), "landscaper", next, map[string]any{"egress": loopback})
	if wasCut := left.Load() < 0; wasCut != (err != nil) {
		t.Fatalf("after %d writes the upgrade is cut: %t, and fails: %v\n%s", writes, wasCut, err, pods(t))
	}
	return err != nil
}

// repair does what docs/release.md says about an upgrade that was cut: where Helm says that it is
// still at work, back to what was there before.
func (u *upgrading) repair(t *testing.T, writes int) {
	t.Helper()
	last, err := u.helm.Releases.Last("landscaper")
	if err != nil {
		t.Fatal(err)
	}
	accessor, err := helmrelease.NewAccessor(last)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("cut after %d writes: %s", writes, accessor.Status())
	if accessor.Status() != common.StatusDeployed.String() {
		u.helm.rollback(t)
	}
}
