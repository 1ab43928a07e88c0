package acceptance

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRestoreGoesBackInTime: a restored cluster has what it had at the time of the snapshot,
// nothing else, and counts its versions from there.
func TestRestoreGoesBackInTime(t *testing.T) {
	t.Parallel()
	l := upForTest(t)
	client := clientset(t, l.Clusters["cluster"].Kubeconfig)
	maps := client.CoreV1().ConfigMaps("default")
	create := func(name string) {
		t.Helper()
		if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create("before")
	l.do(t, "snapshot", "cluster", "one")
	for i := range 20 {
		create("after-" + strconv.Itoa(i))
	}
	if err := maps.Delete(t.Context(), "before", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	late, err := maps.Get(t.Context(), "after-19", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.do(t, "restore", "cluster", "one")
	eventually(t, func() error {
		_, err := maps.Get(t.Context(), "before", metav1.GetOptions{})
		return err
	})
	if _, err := maps.Get(t.Context(), "after-0", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the object that was created after the snapshot still exists: %v", err)
	}
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	then, _ := strconv.Atoi(late.ResourceVersion)
	if now, err := strconv.Atoi(list.ResourceVersion); err != nil || now >= then {
		t.Errorf("version %s, and it was at %d before", list.ResourceVersion, then)
	}
	create("again")
	for _, arguments := range [][]string{{"restore", "cluster", "none"}, {"snapshot", "cluster", "../one"}, {"snapshot", "nowhere", "one"}} {
		if _, err := run(t.Context(), l.Name, arguments...); err == nil {
			t.Errorf("lab %v succeeds", arguments)
		}
	}
}
