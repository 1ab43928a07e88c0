package resolve

import (
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
)

// TestVerificationPolicy: which Installations may be unsigned.
func TestVerificationPolicy(t *testing.T) {
	const signed, component, neither = "{verification: {signatureName: s}, componentDescriptor: {ref: {componentName: a, version: b}}}", "{componentDescriptor: {ref: {componentName: a, version: b}}}", "{}"
	for _, test := range []struct {
		reason string
		policy VerificationPolicy
		spec   string
		want   string
	}{
		{"signatures are checked on request, and none is requested", VerifyIfAsked, component, ""},
		{"signatures are enforced, and the Installation names one", VerifyAlways, signed, ""},
		{"signatures are enforced, and the Installation names none", VerifyAlways, component, "set spec.verification.signatureName"},
		{"an empty signature name counts as none", VerifyAlways, "{verification: {signatureName: ''}, componentDescriptor: {ref: {componentName: a, version: b}}}", "set spec.verification.signatureName"},
		{"an Installation without a component cannot be signed", VerifyAlways, "{verification: {signatureName: s}}", "set spec.componentDescriptor"},
		{"signatures are switched off", VerifyNever, neither, ""},
	} {
		err := test.policy.Check(testbuilders.InstallationOf(t, test.spec))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.want)
		}
	}
	for policy, known := range map[VerificationPolicy]bool{VerifyIfAsked: true, VerifyAlways: true, VerifyNever: true, "": false, "enforce": false} {
		if policy.Known() != known {
			t.Errorf("policy %q: %t", policy, !known)
		}
	}
}

// TestReportOverwrite: the condition follows the Context of this job.
func TestReportOverwrite(t *testing.T) {
	own := &repocontext.Sources{Overwritten: true, Options: component.Options{
		Default: []byte(`{"type":"OCIRegistry","baseUrl":"r.example.org"}`),
		Overwrites: []component.Overwrite{
			{Source: component.Reference{Name: "a", Version: "1.0.0"}, Substitution: component.Reference{Version: "1.0.1"}},
			{Source: component.Reference{Name: "b"}, Substitution: component.Reference{Context: []byte(`{"type":"OCIRegistry","baseUrl":"mirror.example.org"}`), Name: "c"}},
		},
	}}
	for _, test := range []struct {
		reason, spec string
		from         *repocontext.Sources
		status       v1alpha1.ConditionStatus
		wants        []string
	}{
		{"another version", "{componentDescriptor: {ref: {componentName: a, version: 1.0.0}}}", own, v1alpha1.ConditionTrue,
			[]string{"Component reference has been overwritten:", "repository context has not been overwritten", "component name has not been overwritten", "version: 1.0.0 -> 1.0.1"}},
		{"another name and repository", "{componentDescriptor: {ref: {componentName: b, version: 1.0.0}}}", own, v1alpha1.ConditionTrue,
			[]string{"r.example.org", "mirror.example.org", "component name: b -> c", "version has not been overwritten"}},
		{"no overwrite matches", "{componentDescriptor: {ref: {componentName: z, version: 1.0.0}}}", own, v1alpha1.ConditionFalse, []string{"component reference has not been overwritten"}},
		{"the Context names no overwrite: the condition of an earlier job is replaced", "{componentDescriptor: {ref: {componentName: a, version: 1.0.0}}}", &repocontext.Sources{}, "", nil},
		{"an inline descriptor is not overwritten", "{componentDescriptor: {inline: {}}}", own, "", nil},
	} {
		inst := testbuilders.InstallationOf(t, test.spec)
		inst.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ComponentReferenceOverwriteCondition, Status: "Unknown"}}
		(Resolver{Now: func() time.Time { return testbuilders.Noon }}).reportOverwrite(inst, test.from)
		got := job.GetCondition(inst.Status.Conditions, v1alpha1.ComponentReferenceOverwriteCondition)
		if test.status == "" {
			if got != nil {
				t.Errorf("%s: %+v", test.reason, got)
			}
			continue
		}
		if got == nil || got.Status != test.status {
			t.Errorf("%s: %+v", test.reason, got)
			continue
		}
		for _, want := range test.wants {
			if !strings.Contains(got.Message, want) {
				t.Errorf("%s: %q is not in %q", test.reason, want, got.Message)
			}
		}
	}
}
