package helm

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
)

const head = "apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1\nkind: ProviderConfiguration\nname: shop\nnamespace: here\nchart: {ref: 'registry.example.org/shop:1.0.0'}\n"

func itemWith(t *testing.T, config string) *deployer.Item {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return &deployer.Item{DeployItem: &v1alpha1.DeployItem{Spec: v1alpha1.DeployItemSpec{Configuration: &runtime.RawExtension{Raw: raw}}}}
}

func TestConfig(t *testing.T) {
	tests := []struct{ reason, config, says string }{
		{"the smallest one", head, ""},
		{"all options", head + "helmDeploymentConfig: {install: {atomic: true, force: true, skipSchemaValidation: true, takeOwnership: true, wait: true, timeout: 5m}, upgrade: {always: true}, uninstall: {wait: true, timeout: 1m}}", ""},
		{"no name", strings.Replace(head, "name: shop\n", "", 1), "name must be the name of a release"},
		{"a name that is not valid", strings.Replace(head, "name: shop", "name: Shop_1", 1), "name must be the name of a release"},
		{"no namespace", strings.Replace(head, "namespace: here\n", "", 1), "namespace must be the name of a namespace"},
		{"a configuration of another kind", strings.Replace(head, "ProviderConfiguration", "Configuration", 1), "kind ProviderConfiguration"},
		{"a configuration of an unknown version", strings.Replace(head, "v1alpha1", "v1", 1), "apiVersion must be"},
		{"values that are a list", head + "values: [top-secret-word]", "values must be a map"},
		{"an option that does not exist", head + "helmDeploymentConfig: {install: {maxHistory: 3}}", "helmDeploymentConfig.install has an option that does not exist: maxHistory (there are atomic, force, skipSchemaValidation, takeOwnership, wait, timeout)"},
		{"an option that is misspelt", head + "helmDeploymentConfig: {upgrade: {attomic: true}}", `helmDeploymentConfig.upgrade has an option that does not exist: attomic, did you mean "atomic"? (there are `},
		{"an option that may be a value", head + "helmDeploymentConfig: {upgrade: {hunter2 hunter2: true}}", `helmDeploymentConfig.upgrade has an option that does not exist: … (there are `},
		{"an upgrade is not always an installation", head + "helmDeploymentConfig: {install: {always: true}}", "helmDeploymentConfig.install has an option that does not exist"},
		{"an option of the wrong type", head + "helmDeploymentConfig: {upgrade: {atomic: top-secret-word}}", "helmDeploymentConfig.upgrade.atomic has the wrong type"},
		{"a time that is not valid", head + "helmDeploymentConfig: {uninstall: {timeout: soon}}", "helmDeploymentConfig.uninstall.timeout"},
		{"a strategy that does not exist", head + "updateStrategy: ask", "updateStrategy has a value that does not exist"},
		{"an export without a key", head + "exports: {exports: [{jsonPath: .Values.a}]}", "key"},
		{"an old export without a path", head + "exportsFromManifests: [{key: a}]", "jsonPath"},
		{"two schedules", head + "continuousReconcile: {every: 1m, cron: '* * * * *'}", "continuousReconcile"},
		{"a readiness mode that does not exist", head + "readinessChecks: {mode: hope}", "readinessChecks.mode does not exist"},
		{"a group without content", head + "deletionGroups: [{}]", "deletionGroups"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := Options{}.config(itemWith(t, test.config))
			switch {
			case test.says == "" && err != nil:
				t.Error(err)
			case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
				t.Errorf("%v, want %q", err, test.says)
			case err != nil && strings.Contains(err.Error(), "top-secret-word"):
				t.Errorf("it shows a value: %v", err)
			case err != nil && deployer.OutcomeOf(err) != deployer.OutcomeFinal:
				t.Errorf("another attempt would repeat it: %v", err)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	five := v1alpha1.Duration{}
	if err := five.UnmarshalJSON([]byte(`"5m"`)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		reason    string
		options   deployOptions
		remaining time.Duration
		want      time.Duration
	}{
		{"the job's time", deployOptions{}, minutes(10), minutes(10)},
		{"no limit at all", deployOptions{}, 0, 0},
		{"a quarter is for undoing it", deployOptions{Atomic: true}, minutes(8), minutes(6)},
		{"the operation has its own limit", deployOptions{Timeout: &five}, minutes(10), minutes(5)},
		{"the limit of the operation is longer than the job", deployOptions{Timeout: &five}, minutes(3), minutes(3)},
		{"the operation has a limit in a job without one", deployOptions{Timeout: &five, Atomic: true}, 0, minutes(5)},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got, err := test.options.limit(test.remaining); err != nil || got != test.want {
				t.Errorf("%s, %v; want %s", got, err, test.want)
			}
		})
	}
}
