package targetsync_test

import (
	"context"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestDeletionIsRefused: the status of a TargetSync says what blocks its deletion, and the
// TargetSync is deleted when nothing blocks it any more.
func TestDeletionIsRefused(t *testing.T) {
	s := newSpace(t, mayReadSecrets("list"))
	s.put("one", kubeconfig(t, source, "one", "word"))
	sync := s.sync(v1alpha1.TargetSyncSpec{SecretNameExpression: "*"})
	s.awaitReady("Synchronized")
	allow := s.refuseDeletion()
	remove(t, here, sync)
	sync = s.await("tells why it stays", func(sync *v1alpha1.TargetSync) bool { return ready(sync).Reason == "ResourceClusterFailed" })
	if text := strings.Join(sync.Status.LastErrors, "\n"); !strings.Contains(text, "remove what the TargetSync has made: delete one: ") || ready(sync).Status != v1alpha1.ConditionFalse {
		t.Errorf("%+v", sync.Status)
	}
	if s.target("one") == nil || s.secret("one") == nil {
		t.Error("the Secret went without its Target")
	}
	allow()
	s.awaitTarget("one", false)
}

// refuseDeletion lets an admission policy refuse that Targets of the namespace are
// deleted, until the function is called.
func (s *space) refuseDeletion() (allow func()) {
	s.t.Helper()
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: s.name + ".acme.example"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": s.name}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Delete},
					Rule:       admissionv1.Rule{APIGroups: []string{v1alpha1.GroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{"targets"}},
				}}},
			},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "it is in use"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	create(s.t, here, policy)
	create(s.t, here, binding)
	ctx, cancel := context.WithTimeout(s.t.Context(), lifeline)
	defer cancel()
	for here.Delete(ctx, &v1alpha1.Target{ObjectMeta: s.meta("one")}, client.DryRunAll) == nil {
		select {
		case <-ctx.Done():
			s.t.Fatal("the policy is not in force")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return func() {
		remove(s.t, here, binding)
		remove(s.t, here, policy)
	}
}
