package cli

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// evil is what an attacker may write into a status to take over the terminal of a reader: it clears
// the screen, sets the title, turns the direction of writing around, and goes back to the beginning
// of the line.
const evil = "\x1b[2J\x1b]0;owned\x07\u202etxet\u2066\u200b\u009b31m\rEnd\x00"

// plantHostile stores a landscape whose statuses and events are hostile.
func plantHostile(t *testing.T) string {
	t.Helper()
	namespace := newNamespace(t)
	message := strings.ReplaceAll(evil, "\x00", "") + strings.Repeat("世界", 2000) + strings.Repeat("x", 5000) + "\n\n\n" + strings.Repeat("a\n", 100)
	shop := plant(t, namespace, "shop", "", "shop-item", "Failed")
	update(t, shop, func(i *v1alpha1.Installation) {
		i.Status.LastError = newError(message)
		i.Status.LastError.Reason, i.Status.LastError.Operation = message[:40], message[:40]
		now := metav1.Now()
		i.Status.TransitionTimes = &v1alpha1.TransitionTimes{TriggerTime: &now, FinishedTime: &now}
	})
	item := newItem(namespace, "shop", "shop-item")
	update(t, item, itemJob("job-1", "Failed", message))
	wide := newInstallation(namespace, "wide", "")
	wide.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/" + message[:60], Version: message[:60]}}
	wide.Spec.Blueprint.Reference.ResourceName = message[:60]
	wide.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "a", DataRef: "a"}}
	create(t, wide, func(i *v1alpha1.Installation) {
		i.Status.JobID, i.Status.InstallationPhase = "job"+message[:30], v1alpha1.InstallationPhase("Odd"+message[:30])
	})
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "e-", Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{Kind: "Installation", Namespace: namespace, Name: "shop", UID: shop.UID},
		Type:           "Warning" + message[:30], Reason: message[:40], Message: message[:1000], LastTimestamp: metav1.Now(),
	}
	if err := cluster.Create(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	return namespace
}

// TestHostileStatus: whatever others have written, a terminal gets nothing but text.
func TestHostileStatus(t *testing.T) {
	namespace := plantHostile(t)
	for _, line := range []string{
		"inspect", "inspect -o wide", "inspect -f", "inspect -d", "inspect --no-wrap", "inspect -o tree-json", "inspect shop --watch --until finished", "inspect -o json",
		"inspect -o yaml", "wait shop", "wait wide --timeout 1s", "events shop", "events shop -o json", "logs shop", "graph", "graph -o dot", "graph -o mermaid", "graph -o json",
		"doctor", "delete shop --dry-run", "force-delete shop --dry-run", "plan shop", "plan wide", "reconcile wide --wait --timeout 1s",
	} {
		t.Run(line, func(t *testing.T) {
			// Some wait for a second.
			t.Parallel()
			args := strings.Fields(line)
			if args[0] != "doctor" {
				args = append([]string{"inst"}, args...)
			}
			got := cli(t, resource.Kubeconfig, append(args, "-n", namespace)...)
			if got.out+got.err == "" {
				t.Error("it says nothing")
			}
			for _, stream := range []string{got.out, got.err} {
				if at := strings.IndexFunc(stream, forbidden); at >= 0 {
					t.Errorf("%q", stream[max(0, at-60):min(len(stream), at+20)])
				}
			}
		})
	}
	got := cli(t, resource.Kubeconfig, "graph", "-o", "svg", "-n", namespace)
	decoder := xml.NewDecoder(strings.NewReader(got.out))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is broken: %v", err)
		}
	}
}

// forbidden are characters that do something to a terminal.
func forbidden(char rune) bool {
	return unicode.IsControl(char) && char != '\n' && char != '\t' || unicode.Is(unicode.Bidi_Control, char)
}
