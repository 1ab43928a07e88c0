package showcase

import (
	"strings"
	"testing"
)

func TestCompareDataflow(t *testing.T) {
	tests := []struct {
		reason   string
		old, new string
		want     string
	}{
		{"the expected output itself", "", "", ""},
		{"suffixes are random", "778g7", "x2x2x", ""},
		{"ages differ", "117m", "3s  ", ""},
		{"the lab has another URL", "https://github.com/gardener/landscaper", "http://127.0.0.1:1234/landscaper.git  ", ""},
		{"newer Kubernetes has no column SECRETS", "NAME                   SECRETS   AGE\ntest-service-account   0         108m", "NAME                   AGE\ntest-service-account   1s", ""},
		{"newer Flux has another column", "NAME                     AGE    READY\n", "NAME                     AGE    READY   STATUS\n", ""},
		{"a failed item", "[✅ Succeeded] DeployItem dataflow-secret", "[❌ Failed] DeployItem dataflow-secret", "❌ Failed"},
		{"a Kustomization that is not ready", "103m   True\ndataflow-tokenprovider", "103m   False\ndataflow-tokenprovider", "tokenconsumer | False"},
		{"an additional object", "cluster2   Opaque   1      117m", "cluster2   Opaque   1      117m\nother      Opaque   1      117m", "other | Opaque"},
		{"a different number of values", "token   3 ", "token   2 ", "| 2"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if !strings.Contains(dataflowShown, test.old) {
				t.Fatalf("%q is not in the expected output", test.old)
			}
			got := strings.Join(CompareDataflow(parse(strings.Replace(dataflowShown, test.old, test.new, 1))), "\n")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("differences %q, want %q", got, test.want)
			}
		})
	}
}

func TestRootsMayComeInAnyOrder(t *testing.T) {
	if a, b := roots("b\n└── c\n\na\n"), roots("a\n\nb\n└── c\n"); a != b {
		t.Errorf("%q differs from %q", a, b)
	}
}
