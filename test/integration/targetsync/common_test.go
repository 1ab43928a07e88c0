package targetsync_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// robot is the ServiceAccount in the source that TargetSyncs use.
const robot = "sync-bot"

// space is a namespace on both clusters, with an access from one to the other.
type space struct {
	t    *testing.T
	name string
}

// newSpace makes a namespace on both clusters, a ServiceAccount in the source that may
// do what rules say, and the Secret "access" with its kubeconfig.
func newSpace(t *testing.T, rules ...rbacv1.PolicyRule) *space {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "sync-"}}
	create(t, here, namespace)
	s := &space{t: t, name: namespace.Name}
	create(t, there, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}})
	create(t, there, &corev1.ServiceAccount{ObjectMeta: s.meta(robot)})
	rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, ResourceNames: []string{robot}, Verbs: []string{"create"}})
	create(t, there, &rbacv1.Role{ObjectMeta: s.meta(robot), Rules: rules})
	create(t, there, &rbacv1.RoleBinding{
		ObjectMeta: s.meta(robot), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: robot},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.name, Name: robot}},
	})
	seconds := int64(3600)
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if err := there.SubResource("token").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: s.meta(robot)}, token); err != nil {
		t.Fatal(err)
	}
	// The controller asks at once, and would be refused.
	s.awaitRight(true)
	create(t, here, &corev1.Secret{ObjectMeta: s.meta("access"), Data: map[string][]byte{"kubeconfig": kubeconfig(t, source, robot, token.Status.Token)}})
	return s
}

// awaitRight returns when the source lets the robot request tokens for itself, or refuses that.
// Nothing shows when a Role is in force, so it is asked.
func (s *space) awaitRight(granted bool) {
	s.t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               "system:serviceaccount:" + s.name + ":" + robot,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: s.name, Verb: "create", Resource: "serviceaccounts", Subresource: "token", Name: robot},
	}}
	ctx, cancel := context.WithTimeout(s.t.Context(), lifeline)
	defer cancel()
	for {
		asked := review.DeepCopy()
		if err := there.Create(ctx, asked); err != nil {
			s.t.Fatalf("ask for a right, want granted=%t: %v", granted, err)
		}
		if asked.Status.Allowed == granted {
			return
		}
		select {
		case <-ctx.Done(): // the next request shows it
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// mayReadSecrets is what the variant for Secrets needs.
func mayReadSecrets(verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: verbs}
}

func (s *space) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.name, Name: name}
}

// sync makes the TargetSync "fleet". It is deleted with the test: another one counts the requests
// to the garden.
func (s *space) sync(spec v1alpha1.TargetSyncSpec) *v1alpha1.TargetSync {
	s.t.Helper()
	made := &v1alpha1.TargetSync{ObjectMeta: s.meta("fleet"), Spec: spec}
	made.Spec.SourceNamespace = s.name
	made.Spec.SecretRef = v1alpha1.LocalSecretReference{Name: "access", Key: "kubeconfig"}
	create(s.t, here, made)
	s.t.Cleanup(func() {
		if err := client.IgnoreNotFound(here.Delete(context.Background(), made.DeepCopy())); err != nil {
			s.t.Error(err)
		}
	})
	return made
}

// change changes the newest version of the TargetSync: the controller may be telling how
// the last run has gone.
func (s *space) change(edit func(*v1alpha1.TargetSyncSpec)) {
	s.t.Helper()
	sync := &v1alpha1.TargetSync{ObjectMeta: s.meta("fleet")}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := here.Get(s.t.Context(), client.ObjectKeyFromObject(sync), sync); err != nil {
			return err
		}
		edit(&sync.Spec)
		return here.Update(s.t.Context(), sync)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// requests are those of the controller for this namespace on both clusters, those of the
// robot included: elsewhere there are other TargetSyncs.
func (s *space) requests(count *landscape.Count) []landscape.Request {
	s.t.Helper()
	requests, err := count.Requests(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(requests, func(request landscape.Request) bool { return request.Namespace != "" && request.Namespace != s.name })
}

// count counts from now on. Events of before, which take a while, are waited for and not counted.
func (s *space) count(emitted ...string) *landscape.Count {
	s.t.Helper()
	for _, reason := range emitted {
		s.awaitEvent(reason)
	}
	count, err := landscape.StartCount(s.t.Context(),
		landscape.Caller{Cluster: resource, User: user}, landscape.Caller{Cluster: source, User: "system:serviceaccount:" + s.name + ":" + robot})
	if err != nil {
		s.t.Fatal(err)
	}
	return count
}

// awaitEvent waits for an event about the TargetSync.
func (s *space) awaitEvent(reason string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), lifeline)
	defer cancel()
	events, err := here.Watch(ctx, &eventsv1.EventList{}, client.InNamespace(s.name))
	if err != nil {
		s.t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if seen, ok := event.Object.(*eventsv1.Event); ok && seen.Reason == reason {
			return
		}
	}
	s.t.Fatalf("no event %s", reason)
}

// await watches a TargetSync until a condition holds.
func (s *space) await(what string, holds func(*v1alpha1.TargetSync) bool) *v1alpha1.TargetSync {
	s.t.Helper()
	return await(s.t, here, &v1alpha1.TargetSyncList{}, s.name, "fleet", what, holds)
}

// awaitReady waits until the Ready condition has a reason.
func (s *space) awaitReady(reason string) *v1alpha1.TargetSync {
	s.t.Helper()
	return s.await("is "+reason, func(sync *v1alpha1.TargetSync) bool { return ready(sync).Reason == reason })
}

// again asks for another run and waits until it has ended.
func (s *space) again() *v1alpha1.TargetSync {
	s.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"reconcile"}}}`, v1alpha1.OperationAnnotation)
	asked := &v1alpha1.TargetSync{ObjectMeta: s.meta("fleet")}
	if err := here.Patch(s.t.Context(), asked, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		s.t.Fatal(err)
	}
	return awaitSince(s.t, here, &v1alpha1.TargetSyncList{}, asked, "has run", func(sync *v1alpha1.TargetSync) bool {
		return sync.Annotations[v1alpha1.OperationAnnotation] == ""
	})
}

func ready(sync *v1alpha1.TargetSync) v1alpha1.Condition {
	return condition(sync, v1alpha1.TargetSyncReady)
}

func condition(sync *v1alpha1.TargetSync, kind v1alpha1.ConditionType) v1alpha1.Condition {
	for _, condition := range sync.Status.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return v1alpha1.Condition{}
}

// target reads a Target; nil if it does not exist.
func (s *space) target(name string) *v1alpha1.Target {
	s.t.Helper()
	return read(s.t, here, &v1alpha1.Target{ObjectMeta: s.meta(name)})
}

// secret reads a Secret of the resource cluster; nil if it does not exist.
func (s *space) secret(name string) *corev1.Secret {
	s.t.Helper()
	return read(s.t, here, &corev1.Secret{ObjectMeta: s.meta(name)})
}

// put makes a Secret in the source.
func (s *space) put(name string, content []byte) *corev1.Secret {
	s.t.Helper()
	made := &corev1.Secret{ObjectMeta: s.meta(name), Data: map[string][]byte{"kubeconfig": content}}
	create(s.t, there, made)
	return made
}

func create(t *testing.T, cluster client.Client, object client.Object) {
	t.Helper()
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}

func update(t *testing.T, cluster client.Client, object client.Object) {
	t.Helper()
	if err := cluster.Update(t.Context(), object); err != nil {
		t.Fatalf("update %T %s: %v", object, object.GetName(), err)
	}
}

func remove(t *testing.T, cluster client.Client, object client.Object) {
	t.Helper()
	if err := cluster.Delete(t.Context(), object); err != nil {
		t.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
}

func read[T client.Object](t *testing.T, cluster client.Client, object T) (found T) {
	t.Helper()
	err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	switch {
	case apierrors.IsNotFound(err):
		return found
	case err != nil:
		t.Fatal(err)
	}
	return object
}

// await watches an object until a condition holds. It begins with a list: a watch without a
// version may begin with what was there some time ago.
func await[T client.Object](t *testing.T, cluster client.WithWatch, list client.ObjectList, namespace, name, what string, holds func(T) bool) T {
	t.Helper()
	if err := cluster.List(t.Context(), list, client.InNamespace(namespace), client.MatchingFields{"metadata.name": name}); err != nil {
		t.Fatal(err)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if seen, ok := item.(T); ok && holds(seen) {
			return seen
		}
	}
	return awaitSince(t, cluster, list, &metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: list.GetResourceVersion()}, what, holds)
}

// awaitSince watches an object from a version on, until a condition holds.
func awaitSince[T client.Object](t *testing.T, cluster client.WithWatch, list client.ObjectList, since metav1.Object, what string, holds func(T) bool) (last T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lifeline)
	defer cancel()
	name := since.GetName()
	events, err := cluster.Watch(ctx, list, &client.ListOptions{
		Namespace: since.GetNamespace(), FieldSelector: fields.OneTermEqualSelector("metadata.name", name),
		Raw: &metav1.ListOptions{ResourceVersion: since.GetResourceVersion()},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if seen, ok := event.Object.(T); ok {
			if last = seen; holds(seen) {
				return seen
			}
		}
	}
	text, err := yaml.Marshal(last)
	t.Fatalf("waiting until %s %s (%v):\n%s", name, what, err, text)
	return last
}

// awaitTarget waits until a Target exists, or is deleted.
func (s *space) awaitTarget(name string, there bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), lifeline)
	defer cancel()
	events, err := here.Watch(ctx, &v1alpha1.TargetList{}, client.InNamespace(s.name), client.MatchingFields{"metadata.name": name})
	if err != nil {
		s.t.Fatal(err)
	}
	defer events.Stop()
	if !there && s.target(name) == nil {
		return
	}
	for event := range events.ResultChan() {
		if (event.Type != "DELETED") == there {
			return
		}
	}
	s.t.Fatalf("Target %s: want there=%t", name, there)
}

// kubeconfig writes a kubeconfig with a token.
func kubeconfig(t *testing.T, cluster *lab.Cluster, name, token string) []byte {
	t.Helper()
	authority, err := os.ReadFile(cluster.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "blue",
		"contexts": []any{map[string]any{"name": "blue", "context": map[string]any{"cluster": "garden", "user": name}}},
		"clusters": []any{map[string]any{"name": "garden", "cluster": map[string]any{"server": cluster.Server, "certificate-authority-data": authority}}},
		"users":    []any{map[string]any{"name": name, "user": map[string]any{"token": token}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
