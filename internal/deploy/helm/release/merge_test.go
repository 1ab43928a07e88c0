package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	made := &unstructured.Unstructured{}
	if err := made.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestChanged(t *testing.T) {
	tests := []struct{ reason, original, wanted, live, want string }{
		{
			"what others have set stays, what the chart takes away goes",
			"{apiVersion: v1, kind: ConfigMap, data: {a: one, b: two}}", "{apiVersion: v1, kind: ConfigMap, data: {a: changed}}",
			"{apiVersion: v1, kind: ConfigMap, data: {a: one, b: two, c: of others}}", "{apiVersion: v1, kind: ConfigMap, data: {a: changed, c: of others}}",
		},
		{
			"a change by another client is corrected",
			"{apiVersion: v1, kind: ConfigMap, data: {a: one}}", "{apiVersion: v1, kind: ConfigMap, data: {a: one}}",
			"{apiVersion: v1, kind: ConfigMap, data: {a: wrong}}", "{apiVersion: v1, kind: ConfigMap, data: {a: one}}",
		},
		{
			"lists of kinds of Kubernetes are merged by their keys",
			"{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: one}]}}", "{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: two}]}}",
			"{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: one, tty: true}, {name: injected, image: x}]}}",
			"{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: two, tty: true}, {name: injected, image: x}]}}",
		},
		{
			"other kinds are corrected, too, and whole numbers stay whole",
			"{apiVersion: acme.example/v1, kind: Thing, spec: {a: 1}}", "{apiVersion: acme.example/v1, kind: Thing, spec: {a: 12345678}}",
			"{apiVersion: acme.example/v1, kind: Thing, spec: {a: 2, b: of others}}", "{apiVersion: acme.example/v1, kind: Thing, spec: {a: 12345678, b: of others}}",
		},
		{
			"of another version of the API nothing is taken away",
			"{apiVersion: acme.example/v1, kind: Thing, spec: {old: 1}}", "{apiVersion: acme.example/v2, kind: Thing, spec: {a: 1}}",
			"{apiVersion: acme.example/v2, kind: Thing, spec: {b: 2}}", "{apiVersion: acme.example/v2, kind: Thing, spec: {a: 1, b: 2}}",
		},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := changed(object(t, test.original), object(t, test.wanted), object(t, test.live))
			if err != nil {
				t.Fatal(err)
			}
			shown, _ := yaml.Marshal(got.Object)
			want, _ := yaml.Marshal(object(t, test.want).Object)
			if diff := cmp.Diff(string(want), string(shown)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestChangedShowsNoValue(t *testing.T) {
	broken := "{apiVersion: v1, kind: Pod, spec: {containers: [{image: top-secret-word}]}}"
	_, err := changed(object(t, broken), object(t, broken), object(t, broken))
	if err == nil || strings.Contains(err.Error(), "top-secret-word") {
		t.Errorf("%v", err)
	}
}

func TestHookProgress(t *testing.T) {
	const job = "apiVersion: batch/v1\nkind: Job\n"
	tests := []struct{ reason, object, now, progress, failure string }{
		{"a Job begins", job, job, "0 pods active, 0 failed", ""},
		{"a Job works", job, job + "status: {active: 1, failed: 2}", "1 pods active, 2 failed", ""},
		{"a Job is complete", job, job + "status: {conditions: [{type: Complete, status: 'True'}]}", "", ""},
		{"a Job has failed", job, job + "status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded}]}", "", "the Job has failed: BackoffLimitExceeded"},
		{"a Job is not going to fail", job, job + "status: {conditions: [{type: Failed, status: 'False'}]}", "0 pods active, 0 failed", ""},
		{"a Job has removed itself when it was done", job + "spec: {ttlSecondsAfterFinished: 0}", "", "", ""},
		{"another client has deleted a Job", job, "", "", "it does not exist any more"},
		{"a Pod begins", "apiVersion: v1\nkind: Pod\n", "apiVersion: v1\nkind: Pod\n", "phase unknown", ""},
		{"a Pod works", "apiVersion: v1\nkind: Pod\n", "apiVersion: v1\nkind: Pod\nstatus: {phase: Running}", "phase Running", ""},
		{"a Pod is done", "apiVersion: v1\nkind: Pod\n", "apiVersion: v1\nkind: Pod\nstatus: {phase: Succeeded}", "", ""},
		{"a Pod has failed", "apiVersion: v1\nkind: Pod\n", "apiVersion: v1\nkind: Pod\nstatus: {phase: Failed}", "", "the Pod has failed"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var now *unstructured.Unstructured
			if test.now != "" {
				now = object(t, test.now)
			}
			progress, failure := hookProgress(object(t, test.object), now)
			if progress != test.progress || failure != test.failure {
				t.Errorf("%q, %q; want %q, %q", progress, failure, test.progress, test.failure)
			}
		})
	}
}
