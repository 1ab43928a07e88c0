package causes

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/test/landscape"
)

// chart is an item that deploys a chart with these templates as release web.
func (s *stage) chart(files map[string]string, more m) m {
	s.Helper()
	archive, err := landscape.Chart("web", "1.0.0", "", files)
	if err != nil {
		s.Fatal(err)
	}
	return s.release(m{"archive": m{"raw": archive}}, more)
}

// release is an item that deploys a chart from somewhere as release web.
func (s *stage) release(chart, more m) m {
	config := m{"name": "web", "namespace": s.space, "chart": chart}
	for name, value := range more {
		config[name] = value
	}
	return item("one", "helm", config)
}

// note is the template of a ConfigMap; metadata is added.
func note(metadata string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: app" + metadata + "}, data: {greeting: hello}}"
}

// hook is the template of a Job that runs before an installation, with a pod of a fate.
func hook(fate string) string {
	return "{apiVersion: batch/v1, kind: Job, metadata: {name: migrate, annotations: {helm.sh/hook: pre-install}}, spec: {backoffLimit: 0, template: {metadata: {labels: {app: web, " +
		fateLabel + ": " + fate + "}}, spec: {restartPolicy: Never, containers: [{name: server, image: 'registry.example.org/web:1'}]}}}}"
}

// pending makes a release that another client has begun to install.
func (s *stage) pending() {
	s.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	release := encode(m{
		"name": "web", "namespace": s.space, "version": 1, "manifest": "",
		"info":  m{"first_deployed": now, "last_deployed": now, "deleted": "", "description": "begun", "status": "pending-install"},
		"chart": m{"metadata": m{"apiVersion": "v2", "name": "web", "version": "0.9.0"}, "templates": list{}, "values": m{}},
	})
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(release); err != nil {
		s.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		s.Fatal(err)
	}
	// Helm packs once more what a Secret holds in base64 anyway.
	record := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.space, Name: "sh.helm.release.v1.web.v1",
			Labels: map[string]string{"owner": "helm", "name": "web", "status": "pending-install", "version": "1"},
		},
		Type: "helm.sh/release.v1", Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))},
	}
	if err := env.Workload.Create(s.Context(), record); err != nil {
		s.Fatal(err)
	}
}

func helm() []row {
	const area = "Helm"
	one := func(item func(*stage) m) func(*stage) given {
		return func(s *stage) given { return given{items: list{item(s)}} }
	}
	return []row{
		{area: area, fault: "chart missing", cause: func(s *stage) given {
			s.vendor(env.Lab.Registry.Address+"/delivery", env.Lab.Registry.Password, nil)
			return given{context: "vendor", items: list{s.release(m{"ref": env.Lab.Registry.Address + "/charts/web:9.9.9"}, m{})}}
		}, names: names{reason: `not found|does not exist|404`, object: `charts/web:9\.9\.9`, cluster: `127\.0\.0\.1:\d+`, next: `check the|publish|push it|correct`}},
		{area: area, fault: "password of the registry wrong", cause: func(s *stage) given {
			s.vendor(env.Lab.Registry.Address+"/delivery", canary, nil)
			return given{context: "vendor", items: list{s.release(m{"ref": env.Lab.Registry.Address + "/charts/web:9.9.9"}, m{})}}
		}, names: names{reason: `401|denied|unauthorized`, object: `charts/web`, cluster: `127\.0\.0\.1:\d+`, next: `check the credentials`}},
		{area: area, fault: "chart repository unreachable", waits: true, cause: one(func(s *stage) m {
			return s.release(m{"helmChartRepo": m{"helmChartRepoUrl": "http://127.0.0.1:1", "helmChartName": "web", "helmChartVersion": "1.0.0"}}, m{})
		}), names: names{reason: `connection refused`, object: `helmChartRepo`, cluster: `127\.0\.0\.1:1\b`, next: `check (that|the)|tried again|another attempt`}},
		{area: area, fault: "template that fails", cause: one(func(s *stage) m {
			return s.chart(map[string]string{"templates/app.yaml": `{{ required "set host to the name of the server" .Values.host }}`}, m{})
		}), names: names{reason: `set host to the name of the server`, object: `web/templates/app\.yaml`, next: `\.Values\.host`}},
		{area: area, fault: "values that break the schema", cause: one(func(s *stage) m {
			return s.chart(map[string]string{"values.schema.json": `{"properties": {"replicas": {"type": "integer"}}}`}, m{"values": m{"replicas": "many"}})
		}), names: names{reason: `replicas`, object: `values`, next: `integer`}},
		{area: area, fault: "template that is no YAML", cause: one(func(s *stage) m {
			return s.chart(map[string]string{"templates/app.yaml": "a: [b"}, m{})
		}), names: names{reason: `yaml|line`, object: `web/templates/app\.yaml`, next: `line 1`}},
		{area: area, fault: "release pending", waits: true, cause: one(func(s *stage) m {
			s.pending()
			return s.chart(map[string]string{"templates/app.yaml": note("")}, m{})
		}), names: names{reason: `pending-install`, object: `release "?NS/web`, cluster: `north`, next: `roll(ed)? ?(it )?back|delete|remove|uninstall|helm |given up`}},
		{area: area, fault: "hook fails", waits: true, cause: one(func(s *stage) m {
			return s.chart(map[string]string{"templates/hook.yaml": hook("fail")}, m{})
		}), names: names{reason: `hook`, object: `Job "?NS/migrate`, cluster: `north`, next: `BackoffLimitExceeded|code 3`}},
		{area: area, fault: "hook never ends", waits: true, cause: one(func(s *stage) m {
			return s.chart(map[string]string{"templates/hook.yaml": hook("unschedulable")}, m{})
		}), names: names{reason: `hook`, object: `Job "?NS/migrate`, cluster: `north`, next: `Unschedulable|Insufficient cpu|pod "?(NS/)?migrate-`}},
		{area: area, fault: "object that does not belong to the release", waits: true, cause: one(func(s *stage) m {
			s.yaml(env.Workload, `{apiVersion: v1, kind: ConfigMap, metadata: {name: app, namespace: NS}}`)
			return s.chart(map[string]string{"templates/app.yaml": note("")}, m{})
		}), names: names{reason: `does not belong|belongs to|not (part )?of (this|the) release|exists`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `takeOwnership`}},
		{area: area, fault: "object invalid", waits: true, cause: one(func(s *stage) m {
			return s.chart(map[string]string{"templates/app.yaml": "{apiVersion: v1, kind: Service, metadata: {name: app}, spec: {ports: [{port: 99999}]}}"}, m{})
		}), names: names{reason: `port.*(65535|range|invalid)|invalid.*port`, object: `Service "?NS/app`, cluster: `north`, next: `spec\.ports\[0\]\.port`}},
		{area: area, fault: "namespace missing", waits: true, cause: one(func(s *stage) m {
			return s.chart(map[string]string{"templates/app.yaml": note("")}, m{"namespace": "nowhere-at-all"})
		}), names: names{reason: `namespace.*nowhere-at-all.*(not found|does not exist|missing)|no namespace`, object: `release "?nowhere-at-all/web|nowhere-at-all/`, cluster: `north`, next: `createNamespace`}},
		{area: area, fault: "Deployment not ready", waits: true, cause: one(func(s *stage) m {
			return s.chart(map[string]string{"templates/web.yaml": string(encode(deployment(s.space, "no-image")))}, m{})
		}), names: names{reason: `ImagePullBackOff`, object: `Deployment "?NS/web`, cluster: `north`, next: `container "?server`}},
		{area: area, fault: "uninstallation that does not end", waits: true, cause: one(func(s *stage) m {
			return s.chart(map[string]string{"templates/app.yaml": note(", finalizers: [acme.example/guard]")}, m{"helmDeploymentConfig": m{"uninstall": m{"wait": true}}})
		}), then: remove, names: names{reason: `waiting for the end|waited for the end`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `finalizers? acme\.example/guard`}},
	}
}

func kustomize() []row {
	const area = "kustomize"
	build := func(source m, more m) func(*stage) given {
		return func(*stage) given {
			config := m{"source": source}
			for name, value := range more {
				config[name] = value
			}
			return given{items: list{item("one", "kustomize", config)}}
		}
	}
	files := func(files m) m { return m{"files": files} }
	return []row{
		{area: area, fault: "file missing", cause: build(files(m{"kustomization.yaml": "resources: [app.yaml]"}), m{}),
			names: names{reason: `not found|does not exist|no such file|missing|there is no`, object: `app\.yaml`, next: `kustomization\.yaml|resources\[0\] of|add it`}},
		{area: area, fault: "directory missing", cause: build(files(m{"kustomization.yaml": "resources: []"}), m{"path": "deploy"}),
			names: names{reason: `not found|does not exist|no such|missing|there is no`, object: `"?deploy`, next: `path: `}},
		{area: area, fault: "patch without a target", cause: build(files(m{"kustomization.yaml": "resources: [app.yaml]\npatches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: ghost}, data: {a: b}}'}]", "app.yaml": note("")}), m{}),
			names: names{reason: `patch`, object: `ghost`, next: `correct|remove|kustomization\.yaml|patches\[0\] of`}},
		{area: area, fault: "file that is no YAML", cause: build(files(m{"kustomization.yaml": "resources: [app.yaml]", "app.yaml": "a: [b"}), m{}),
			names: names{reason: `yaml|line`, object: `app\.yaml`, next: `line 1`}},
		{area: area, fault: "Git unreachable", waits: true, cause: build(m{"git": m{"url": "http://127.0.0.1:1/team/shop", "ref": m{"branch": "main"}}}, m{}),
			names: names{reason: `connection refused`, object: `127\.0\.0\.1:1\b`, next: `check (that|the)|tried again|another attempt`}},
		{area: area, fault: "repository missing", cause: func(s *stage) given {
			return build(m{"git": m{"url": s.answering(404, false) + "/team/shop", "ref": m{"branch": "main"}}}, m{})(s)
		}, names: names{reason: `not found|404|does not exist`, object: `/team/shop|source\.git`, next: `check the|correct|create`}},
		{area: area, fault: "artifact missing", cause: func(s *stage) given {
			s.vendor(env.Lab.Registry.Address+"/delivery", env.Lab.Registry.Password, nil)
			g := build(m{"oci": m{"ref": env.Lab.Registry.Address + "/apps/web:9.9.9"}}, m{})(s)
			g.context = "vendor"
			return g
		}, names: names{reason: `not found|404|does not exist`, object: `apps/web:9\.9\.9`, next: `check the|publish|push it|correct`}},
	}
}
