// Package chart renders the Helm charts of this repository for tests.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Release and Namespace are the names under which the chart of Landscaper is rendered.
const (
	Release   = "landscaper"
	Namespace = "landscaper-system"
)

// Chart is a chart of this repository.
type Chart struct {
	// Name is its folder, and the ServiceAccount of its program.
	Name string
	// Namespace is where it is rendered.
	Namespace string
}

// Landscaper is the chart of the server, ShootFlux that of the Gardener extension.
var (
	Landscaper = Chart{Release, Namespace}
	ShootFlux  = Chart{"gardener-extension-shoot-flux", "extension-shoot-flux"}
)

// Render returns the objects of the chart of Landscaper.
func Render(values map[string]any) ([]*unstructured.Unstructured, error) {
	return Landscaper.Render(values)
}

// Directory returns the folder of the chart.
func (c Chart) Directory() (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; directory != filepath.Dir(directory); directory = filepath.Dir(directory) {
		chart := filepath.Join(directory, "charts", c.Name)
		if _, err := os.Stat(filepath.Join(chart, "Chart.yaml")); err == nil {
			return chart, nil
		}
	}
	return "", fmt.Errorf("there is no charts/%s above the working directory", c.Name)
}

// Render returns the objects of the chart.
func (c Chart) Render(values map[string]any) ([]*unstructured.Unstructured, error) {
	directory, err := c.Directory()
	if err != nil {
		return nil, err
	}
	loaded, err := loader.Load(directory)
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	input, err := util.ToRenderValues(loaded, values, common.ReleaseOptions{Name: c.Name, Namespace: c.Namespace, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("compute values: %w", err)
	}
	files, err := engine.Render(loaded, input)
	if err != nil {
		return nil, fmt.Errorf("render chart: %w", err)
	}
	var objects []*unstructured.Unstructured
	for name, content := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		more, err := Decode(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// Decode reads the objects of a text.
func Decode(content string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// Rules returns the rules that the chart gives to the program, bound to a user instead
// of its service account, with the namespaces that they are in. Tests run with exactly
// these rules.
func (c Chart) Rules(user string, values map[string]any) ([]byte, error) {
	objects, err := c.Render(values)
	if err != nil {
		return nil, err
	}
	return c.bind(objects, user)
}

// GardenRules returns the rules that the registration of the extension shoot-flux gives to
// it in the garden, bound to a user.
func GardenRules(user string) ([]byte, error) {
	role, err := GardenRole()
	if err != nil {
		return nil, err
	}
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": role.GetName()},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role.GetName()},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": ShootFlux.Name}},
	}}
	return ShootFlux.bind([]*unstructured.Unstructured{role, binding}, user)
}

// GardenRole is the role of the extension shoot-flux in the garden.
func GardenRole() (*unstructured.Unstructured, error) {
	directory, err := ShootFlux.Directory()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(directory, "..", "..", "examples", "shoot-flux", "controller-registration.yaml"))
	if err != nil {
		return nil, err
	}
	objects, err := Decode(string(content))
	if err != nil {
		return nil, err
	}
	return Find(objects, "ClusterRole", ShootFlux.Name)
}

// bind binds what is bound to the program to a user.
func (c Chart) bind(objects []*unstructured.Unstructured, user string) ([]byte, error) {
	var manifest bytes.Buffer
	seen := map[string]bool{}
	for _, object := range objects {
		switch object.GetKind() {
		case "ClusterRoleBinding", "RoleBinding":
			if !c.bindsProgram(object) {
				continue
			}
			object.Object["subjects"] = []any{map[string]any{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}}
		case "ClusterRole", "Role":
		default:
			continue
		}
		if namespace := object.GetNamespace(); namespace != "" && !seen[namespace] {
			seen[namespace] = true
			fmt.Fprintf(&manifest, "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", namespace)
		}
		// Rules of several users may be in one cluster.
		rename(object, user)
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("encode %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		manifest.WriteString("---\n")
		manifest.Write(text)
	}
	return manifest.Bytes(), nil
}

// bindsProgram says that a binding is for the service account of the program.
func (c Chart) bindsProgram(binding *unstructured.Unstructured) bool {
	subjects, _, err := unstructured.NestedSlice(binding.Object, "subjects")
	if err != nil {
		return false
	}
	for _, subject := range subjects {
		if subject, ok := subject.(map[string]any); ok && subject["kind"] == "ServiceAccount" && subject["name"] == c.Name {
			return true
		}
	}
	return false
}

func rename(object *unstructured.Unstructured, user string) {
	object.SetName(user + "-" + object.GetName())
	// The annotations make Helm delete what runs before an installation.
	object.SetAnnotations(nil)
	if reference, found, err := unstructured.NestedString(object.Object, "roleRef", "name"); found && err == nil {
		_ = unstructured.SetNestedField(object.Object, user+"-"+reference, "roleRef", "name") // it was there
	}
}

// Find returns the object of a kind and name.
func Find(objects []*unstructured.Unstructured, kind, name string) (*unstructured.Unstructured, error) {
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object, nil
		}
	}
	return nil, fmt.Errorf("the chart has no %s %s", kind, name)
}
