package cli

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// tellOf stores an event about an object.
func tellOf(t *testing.T, object *v1alpha1.Installation, kind, reason, message string) {
	t.Helper()
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "e-", Namespace: object.Namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Namespace: object.Namespace, Name: object.Name, UID: object.UID},
		Type:           kind, Reason: reason, Message: message, LastTimestamp: metav1.Now(), Count: 2,
	}
	if err := cluster.Create(t.Context(), event); err != nil {
		t.Fatal(err)
	}
}

func TestEvents(t *testing.T) {
	namespace := newNamespace(t)
	shop := plant(t, namespace, "shop", "", "shop-item", "Progressing")
	other := plant(t, namespace, "other", "", "other-item", "Succeeded")
	tellOf(t, shop, "Normal", "Begun", "the work has begun")
	tellOf(t, shop, "Warning", "Refused", "no such chart")
	tellOf(t, other, "Warning", "Other", "of another tree")
	got := cli(t, resource.Kubeconfig, "inst", "events", "shop", "-n", namespace, "--types", "Warning")
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if got.code != 0 || got.err != "" || len(lines) != 2 || !strings.HasSuffix(lines[1], "Refused   Installation shop   no such chart (2 times)") {
		t.Errorf("%+v", got)
	}
	if got := cli(t, resource.Kubeconfig, "events", "x", "-n", namespace); got.code != 3 {
		t.Errorf("nothing there: %+v", got)
	}
	p := begin(t, resource.Kubeconfig, "inst", "events", "shop", "-n", namespace, "--watch", "-o", "json")
	p.out.await(t, `"reason":"Begun"`)
	tellOf(t, shop, "Normal", "Later", "something new")
	p.out.await(t, `"reason":"Later"`)
}

func TestLogsFollow(t *testing.T) {
	namespace := newNamespace(t)
	shop := plant(t, namespace, "shop", "", "shop-item", "Progressing")
	p := begin(t, resource.Kubeconfig, "inst", "logs", "shop", "-n", namespace, "--follow")
	tellOf(t, shop, "Normal", "Noted", "the children are written")
	p.out.await(t, " Installation shop: the children are written (2 times)\n")
	update(t, shop, func(i *v1alpha1.Installation) {
		job("job-1", "Failed")(i)
		now := metav1.Now()
		i.Status.LastError = newError("the item has failed")
		i.Status.TransitionTimes = &v1alpha1.TransitionTimes{FinishedTime: &now}
	})
	got := p.end(t)
	if got.code != 2 || !strings.Contains(got.out, "! Installation shop: the item has failed\n") || !strings.Contains(got.out, "! Installation shop: the job ended in phase Failed\n") {
		t.Errorf("%+v", got)
	}
}
