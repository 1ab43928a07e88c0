package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/lab/internal/fault"
	"go.landscaper.dev/lab/internal/report"
)

// behindProxy gives a test a namespace of cluster plain, a client that goes
// through the cluster's fault proxy and one that does not. Rules name the
// namespace, so that tests do not meet each other's.
func behindProxy(t *testing.T) (namespace string, through, direct *kubernetes.Clientset) {
	t.Helper()
	kubeconfig := strings.TrimSpace(shared.do(t, "kubeconfig", "plain", "--through-proxy"))
	config := restConfig(t, kubeconfig)
	config.QPS = -1
	if config.Host == shared.Clusters["plain"].Server {
		t.Fatal("the kubeconfig does not go through the proxy")
	}
	t.Cleanup(func() {
		if _, err := run(context.Background(), shared.Name, "fault", "clear", "plain"); err != nil {
			t.Error(err)
		}
	})
	direct = clientset(t, shared.Clusters["plain"].Kubeconfig)
	return newNamespace(t, direct), clientsetFor(t, config), direct
}

// add adds a rule for a namespace.
func add(t *testing.T, namespace string, args ...string) {
	t.Helper()
	shared.do(t, append([]string{"fault", "add", "plain", "--namespaces", namespace}, args...)...)
}

func newMap(t *testing.T, client kubernetes.Interface, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	created, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func TestProxyWithoutRulesChangesNothing(t *testing.T) {
	namespace, through, _ := behindProxy(t)
	created := newMap(t, through, namespace, "plain")
	watcher, err := through.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	newMap(t, through, namespace, "watched")
	if event := next(t, watcher); event.Type != watch.Added {
		t.Errorf("event %v", event)
	}
}

func next(t *testing.T, watcher watch.Interface) watch.Event {
	t.Helper()
	select {
	case event := <-watcher.ResultChan():
		return event
	case <-time.After(waitLimit):
		t.Fatal("the watch reports nothing")
		return watch.Event{}
	}
}

func TestProxyKeepsTheClientsIdentity(t *testing.T) {
	for _, args := range [][]string{{}, {"--cert"}} {
		var user report.User
		shared.doJSON(t, &user, append([]string{"user", "proxied", "--group", "crew", "--cluster", "plain", "--through-proxy"}, args...)...)
		config := restConfig(t, user.Kubeconfig)
		if config.Host == shared.Clusters["plain"].Server {
			t.Fatal("the kubeconfig does not go through the proxy")
		}
		if who := whoAmI(t, clientsetFor(t, config)); who.Username != "proxied" || !slices.Contains(who.Groups, "crew") {
			t.Errorf("with %v, the API server takes us for %+v", args, who)
		}
		// A client cannot become another user by claiming to.
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return claiming{next} })
		if who := whoAmI(t, clientsetFor(t, config)); who.Username != "proxied" || slices.Contains(who.Groups, "system:masters") {
			t.Errorf("with %v and a false claim, the API server takes us for %+v", args, who)
		}
	}
	anonymous := rest.AnonymousClientConfig(restConfig(t, strings.TrimSpace(shared.do(t, "kubeconfig", "plain", "--through-proxy"))))
	anonymous.Wrap(func(next http.RoundTripper) http.RoundTripper { return claiming{next} })
	if _, err := clientsetFor(t, anonymous).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a claim alone was believed")
	}
}

// claiming pretends to be a proxy that vouches for an administrator.
type claiming struct{ next http.RoundTripper }

func (c claiming) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Remote-User", "admin")
	r.Header.Set("X-Remote-Group", "system:masters")
	return c.next.RoundTrip(r)
}

func TestStatusFaults(t *testing.T) {
	namespace, through, direct := behindProxy(t)
	object := newMap(t, direct, namespace, "target")
	for _, row := range []struct {
		status string
		is     func(error) bool
		reason string
	}{
		{"409", apierrors.IsConflict, "a conflict, as from a concurrent change"},
		{"429", apierrors.IsTooManyRequests, "an overloaded API server"},
		{"500", apierrors.IsInternalError, "a broken API server"},
		{"503", apierrors.IsServiceUnavailable, "an API server without etcd"},
	} {
		// Clients repeat some of these by themselves; more often than that.
		add(t, namespace, "--rule", "status", "--verbs", "update", "--resources", "configmaps", "--status", row.status)
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		result := through.CoreV1().RESTClient().Put().Namespace(namespace).Resource("configmaps").Name(object.Name).
			MaxRetries(0).Body(object).Do(ctx)
		cancel()
		if err := result.Error(); !row.is(err) {
			t.Errorf("%s: %v", row.reason, err)
		}
		if _, err := through.CoreV1().ConfigMaps(namespace).Get(t.Context(), object.Name, metav1.GetOptions{}); err != nil {
			t.Errorf("a get is hit by a rule about updates: %v", err)
		}
		shared.do(t, "fault", "remove", "plain", "status")
	}
	if now, err := direct.CoreV1().ConfigMaps(namespace).Get(t.Context(), object.Name, metav1.GetOptions{}); err != nil || now.ResourceVersion != object.ResourceVersion {
		t.Errorf("a request that was refused took effect (%v)", err)
	}
}

// hits asks for the same objects in an order and says which requests failed.
func hits(t *testing.T, client kubernetes.Interface, namespace string, order []int) map[string]bool {
	t.Helper()
	failed := map[string]bool{}
	for round := range 10 {
		for _, i := range order {
			name := fmt.Sprintf("object-%d", i)
			_, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
			failed[fmt.Sprintf("%s %d", name, round)] = apierrors.IsConflict(err)
		}
	}
	return failed
}

func TestSharesAreSeededAndReplayable(t *testing.T) {
	namespace, through, _ := behindProxy(t)
	rule := []string{"--rule", "some", "--verbs", "get", "--share", "0.3", "--status", "409", "--seed"}
	forwards, backwards := []int{0, 1, 2, 3, 4, 5, 6, 7}, []int{7, 6, 5, 4, 3, 2, 1, 0}
	play := func(seed string, order []int) map[string]bool {
		shared.do(t, "fault", "clear", "plain")
		add(t, namespace, append(rule, seed)...)
		return hits(t, through, namespace, order)
	}
	first, again, other := play("7", forwards), play("7", backwards), play("8", forwards)
	count, differs := 0, false
	for request, failed := range first {
		if failed {
			count++
		}
		if again[request] != failed {
			t.Errorf("request %s met another fate with the same seed", request)
		}
		differs = differs || other[request] != failed
	}
	if count < 10 || count > 40 {
		t.Errorf("%d of %d requests failed, want about 0.3 of them", count, len(first))
	}
	if !differs {
		t.Error("another seed made the same decisions")
	}
	var decision fault.Decision
	for line := range strings.Lines(shared.do(t, "fault", "log", "plain")) {
		if err := json.Unmarshal([]byte(line), &decision); err != nil {
			t.Fatal(err)
		}
	}
	if decision.Rule != "some" || decision.Nth != 10 || decision.Request.Name != "object-7" || decision.Request.Namespace != namespace {
		t.Errorf("the last decision in the log is %+v", decision)
	}
}

func TestDelay(t *testing.T) {
	namespace, through, _ := behindProxy(t)
	add(t, namespace, "--verbs", "list", "--delay", "300ms")
	started := time.Now()
	if _, err := through.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(started); took < 300*time.Millisecond {
		t.Errorf("a list took %s in spite of the delay", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := through.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{}); ctx.Err() == nil {
		t.Errorf("a list ended before its delay: %v", err)
	}
}

func TestLostAnswerOfACommittedRequest(t *testing.T) {
	namespace, through, direct := behindProxy(t)
	add(t, namespace, "--verbs", "create", "--resources", "configmaps", "--times", "1", "--lose")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "lost"}}
	if _, err := through.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		t.Errorf("create: %v, want a broken connection", err)
	}
	if _, err := direct.CoreV1().ConfigMaps(namespace).Get(t.Context(), "lost", metav1.GetOptions{}); err != nil {
		t.Errorf("the request did not take effect: %v", err)
	}
	if _, err := through.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("create again: %v, want already exists: the rule rests after one hit", err)
	}
}

func TestCutBeforeTheRequestTakesEffect(t *testing.T) {
	namespace, through, direct := behindProxy(t)
	add(t, namespace, "--verbs", "create", "--cut")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cut"}}
	if _, err := through.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err == nil {
		t.Error("the create has an answer")
	}
	if _, err := direct.CoreV1().ConfigMaps(namespace).Get(t.Context(), "cut", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get: %v, want not found", err)
	}
}

func TestOpenConnectionsAreCut(t *testing.T) {
	namespace, through, _ := behindProxy(t)
	watcher, err := through.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	next(t, watcher) // kube-root-ca.crt, so the watch is open
	var cut fault.Cut
	shared.doJSON(t, &cut, "fault", "cut", "plain")
	if cut.Connections == 0 {
		t.Error("no connection was open")
	}
	awaitEnd(t, watcher)
	if _, err := through.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("a new connection: %v", err)
	}
}

// awaitEnd drains a watch until it ends.
func awaitEnd(t *testing.T, watcher watch.Interface) {
	t.Helper()
	deadline := time.After(waitLimit)
	for {
		select {
		case _, open := <-watcher.ResultChan():
			if !open {
				return
			}
		case <-deadline:
			t.Fatal("the watch does not end")
		}
	}
}

func TestWatchesAreCutAfterAWhile(t *testing.T) {
	namespace, through, direct := behindProxy(t)
	newMap(t, direct, namespace, "seen")
	add(t, namespace, "--verbs", "watch", "--cut", "--delay", "200ms")
	watcher, err := through.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=seen"})
	if err != nil {
		t.Fatal(err)
	}
	if event := next(t, watcher); event.Type != watch.Added {
		t.Errorf("event %v before the cut", event)
	}
	awaitEnd(t, watcher)
}

func TestStalledWatchGoesOnWhereItWas(t *testing.T) {
	namespace, through, direct := behindProxy(t)
	options := metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"}
	watcher, err := through.CoreV1().ConfigMaps(namespace).Watch(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	newMap(t, direct, namespace, "before")
	next(t, watcher)

	add(t, namespace, "--rule", "stall", "--resources", "configmaps", "--stall")
	newMap(t, direct, namespace, "meanwhile")
	// Another watch, not through the proxy, shows when there is something to report.
	witness, err := direct.CoreV1().ConfigMaps(namespace).Watch(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer witness.Stop()
	for range 2 {
		next(t, witness)
	}
	eventually(t, func() error { // the proxy has received the event, and holds it
		if log := shared.do(t, "fault", "log", "plain"); !strings.Contains(lineWith(log, namespace), `"rule":"stall"`) {
			return fmt.Errorf("no decision about the watch")
		}
		return nil
	})
	select {
	case event := <-watcher.ResultChan():
		t.Errorf("the stalled watch reported %v", event)
	default:
	}
	shared.do(t, "fault", "remove", "plain", "stall")
	if event := next(t, watcher); event.Type != watch.Added || event.Object.(*corev1.ConfigMap).Name != "meanwhile" {
		t.Errorf("after the stall: %v", event)
	}
}

func TestRulesFromAFileAndOverARestart(t *testing.T) {
	namespace, through, _ := behindProxy(t)
	file := filepath.Join(t.TempDir(), "rules.json")
	rules := fmt.Sprintf(`{"seed": 3, "rules": [{"name": "all", "namespaces": [%q], "share": 1, "action": "status", "status": 409}]}`, namespace)
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	shared.do(t, "fault", "set", "plain", file)
	shared.do(t, "restart", "plain/proxy")
	if _, err := through.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("list after a restart of the proxy: %v, want the rule's conflict", err)
	}
	var shown fault.Rules
	shared.doJSON(t, &shown, "fault", "show", "plain")
	if shown.Seed != 3 || len(shown.Rules) != 1 || shown.Rules[0].Name != "all" {
		t.Errorf("shown: %+v", shown)
	}
}

func TestWrongRulesAreExplained(t *testing.T) {
	for want, args := range map[string][]string{
		"above 0":     {"--share", "1.5", "--status", "500"},
		"one of":      {"--status", "200"},
		"exactly one": {"--cut", "--lose"},
		"syntax":      {"--names", "[", "--cut"},
	} {
		if _, err := run(t.Context(), shared.Name, append([]string{"fault", "add", "plain"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want an error with %q", args, err, want)
		}
	}
}
