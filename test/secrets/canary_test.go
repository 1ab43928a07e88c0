package secrets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// canary stands for every value that may be a secret. It can be a name and a label, so
// that it gets as far as other values do.
const canary = "canary7f3a9c"

// canaryCase is an Installation that uses the canary.
type canaryCase struct {
	// reason says what is done with the canary.
	reason string
	// blueprint is all behind the imports; template is short for one deploy execution.
	blueprint, template string
	// schemas replace those of the imports data, secret and config.
	schemas map[string]string
	// prepare makes what the Installation needs and changes it.
	prepare func(t *testing.T, inst *v1alpha1.Installation)
	// says must be in what is shown: it proves that the case came to where the canary
	// could get into a message.
	says string
	// succeeds says that nothing is wrong.
	succeeds bool
	// goesOn says that the job retries after the error; the error is reported nevertheless.
	goesOn bool
}

// TestNoValueIsShown brings a value into a server by every way that there is, well and
// badly, and looks for it wherever more people may look than those who may read the
// objects that hold it.
//
// What identifies something is shown on purpose, although a template can make it from a
// value as well: kind, namespace and name of what is deployed, types of deploy items, and
// the address of a cluster or registry.
func TestNoValueIsShown(t *testing.T) {
	metrics, err := landscape.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("kind: LandscaperConfiguration\negress: {allowLoopback: true}\nregistry: {oci: {certificateAuthorities: %s}}\n", env.Lab.Registry.CAFile)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// All cases run at the same time: the limits leave each of them the time to get as far as
	// to what is wrong with it.
	server := startServer(t, env.ServerKubeconfig, "--config", config, "--metrics-address", metrics, "--metrics-open", "--pickup-timeout", "12s")
	space := namespace(t)
	waitForContext(t, space)
	canaryImports(t, space)
	cases := map[string]canaryCase{}
	for _, list := range [][]canaryCase{canarySources(), canaryTemplates(), canaryItems(), canaryManifests(), canaryTargets(), canaryRegistries(), canaryCharts(t)} {
		for _, c := range list {
			inst := c.installation(space)
			if _, twice := cases[inst.Name]; twice {
				t.Fatalf("two cases have the name %s", inst.Name)
			}
			cases[inst.Name] = c
			if c.prepare != nil {
				c.prepare(t, inst)
			}
			create(t, inst)
		}
	}
	finished := waitAllFinished(t, space, cases)
	said := whatIsSaid(t, space)
	for name, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			inst := finished[name]
			if succeeded := inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded; succeeded != c.succeeds {
				t.Errorf("phase %s, error %+v", inst.Status.InstallationPhase, inst.Status.LastError)
			}
			all := strings.Join(said.of[name], "\n")
			if !strings.Contains(all, c.says) {
				t.Errorf("%q is not said:\n%s", c.says, all)
			}
			lookForCanary(t, "what is said about the Installation", all)
		})
	}
	t.Run("other objects", func(t *testing.T) { lookForCanary(t, "the namespace", strings.Join(said.others, "\n")) })
	t.Run("log", func(t *testing.T) {
		log := server.Output()
		for name := range cases {
			if !strings.Contains(log, name) {
				t.Errorf("the log does not speak of %s at all", name)
			}
		}
		lookForCanary(t, "the log", log)
	})
	t.Run("metrics", func(t *testing.T) {
		text := scenario.ReadMetrics(t, metrics)
		if !strings.Contains(text, "controller_runtime_reconcile_total") {
			t.Errorf("there are no metrics: %.300s", text)
		}
		lookForCanary(t, "the metrics", text)
	})
	inspectCanaries(t, space, len(cases))
	t.Run("plan", func(t *testing.T) { planCanaries(t, space, cases) })
	t.Run("assistant", func(t *testing.T) { askAboutCanaries(t, space, cases) })
}

// canaryImports makes the objects that every case imports.
func canaryImports(t *testing.T, space string) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: space, Name: "values"}
	createAll(t,
		&v1alpha1.DataObject{ObjectMeta: meta, Data: v1alpha1.NewAnyJSON(fmt.Appendf(nil, "%q", canary))},
		&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"value": []byte(canary)}},
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"value": canary}},
	)
}

// installation makes the Installation of a case. In its texts, VALUE is an imported
// value, NAME and NAMESPACE are where something may be deployed.
func (c canaryCase) installation(space string) *v1alpha1.Installation {
	name := strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(strings.ToLower(c.reason))
	blueprint := c.blueprint
	if blueprint == "" {
		blueprint = "deployExecutions:\n- name: default\n  type: GoTemplate\n  template: |\n" + landscape.Indent(c.template, 4)
	}
	imports := "- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}\n"
	for _, source := range []string{"data", "secret", "config"} {
		schema := c.schemas[source]
		if schema == "" {
			schema = "{type: string}"
		}
		imports += fmt.Sprintf("- {name: %s, type: data, schema: %s}\n", source, schema)
	}
	blueprint = strings.NewReplacer("VALUE", "{{ .imports.secret }}", "NAMESPACE", space, "NAME", name).Replace(blueprint)
	inst := newInstallation(space, name, "")
	inst.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON(jsonOf(map[string]string{
		"blueprint.yaml": "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nimports:\n" + imports + blueprint,
	}))
	inst.Spec.Imports.Data = []v1alpha1.DataImport{
		{Name: "data", DataRef: "values"},
		{Name: "secret", SecretRef: &v1alpha1.ImportSecretReference{LocalSecretReference: v1alpha1.LocalSecretReference{Name: "values", Key: "value"}}},
		{Name: "config", ConfigMapRef: &v1alpha1.ImportConfigMapReference{LocalConfigMapReference: v1alpha1.LocalConfigMapReference{Name: "values", Key: "value"}}},
	}
	return inst
}

// waitAllFinished watches until the jobs of all cases have ended, or have said what is wrong if
// they continue.
func waitAllFinished(t *testing.T, space string, cases map[string]canaryCase) map[string]*v1alpha1.Installation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	finished := map[string]*v1alpha1.Installation{}
	for {
		events, err := env.Admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(space))
		if err != nil {
			t.Fatalf("%d of %d Installations have ended: %v", len(finished), len(cases), err)
		}
		for event := range events.ResultChan() {
			inst, ok := event.Object.(*v1alpha1.Installation)
			if ok && inst.Status.JobID != "" && (inst.Status.JobIDFinished == inst.Status.JobID || cases[inst.Name].goesOn && inst.Status.LastError != nil) {
				finished[inst.Name] = inst
			}
			if len(finished) == len(cases) {
				events.Stop()
				return finished
			}
		}
	}
}
