package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/schemas"
	"go.landscaper.dev/internal/cli/quickstart/bootstrap"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/tools/release/pack"
	"go.landscaper.dev/tools/release/program"
)

// namespace is where the manifests install Landscaper.
const namespace = "landscaper-system"

// manifests writes what those apply who do not use Helm. Definitions of kinds come in a file of
// their own, since they have to be there before.
func (r *release) manifests(ctx context.Context) error {
	crds, err := install.CRDs()
	if err != nil {
		return err // says what it did
	}
	var kinds bytes.Buffer
	for _, crd := range crds {
		if err := addDocument(&kinds, crd); err != nil {
			return err // says what it did
		}
	}
	policies, err := install.Policies(nil)
	if err != nil {
		return err // says what it did
	}
	made := r.find("landscaper")
	objects, err := bootstrap.Objects(namespace, map[string]any{"image": map[string]any{"repository": made.Repository, "digest": made.Root.Digest.String()}})
	if err != nil {
		return err // says what it did
	}
	var server bytes.Buffer
	first := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}}
	for _, object := range append(append([]*unstructured.Unstructured{first}, policies...), objects...) {
		if err := addDocument(&server, object.Object); err != nil {
			return err // says what it did
		}
	}
	if err := r.write("landscaper-crds.yaml", kinds.Bytes()); err != nil {
		return err // names the file
	}
	if err := r.write("landscaper.yaml", server.Bytes()); err != nil {
		return err // names the file
	}
	if err := errors.Join(r.deliveryManifests(), r.fleetManifests(), r.schemas()); err != nil {
		return err // says what it did
	}
	return r.registration(ctx)
}

// schemas packs the JSON schemas for editors; they refer to each other by their names.
func (r *release) schemas() error {
	names, err := fs.Glob(schemas.Files, "*.json")
	if err != nil {
		return err // the pattern is valid
	}
	files := make([]pack.File, 0, len(names))
	for _, name := range names {
		text, err := schemas.Files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("pack the schemas: %w", err)
		}
		files = append(files, pack.File{Name: name, Data: text})
	}
	packed, err := pack.TarGz(r.at, files...)
	if err != nil {
		return fmt.Errorf("pack the schemas: %w", err)
	}
	return r.write("landscaper-schemas.tar.gz", packed) // names the file
}

// fleetManifests writes the kinds of the feature Fleets, which is off by default.
func (r *release) fleetManifests() error {
	crds, err := install.FleetCRDs()
	if err != nil {
		return err // says what it did
	}
	var all bytes.Buffer
	for _, crd := range crds {
		if err := addDocument(&all, crd); err != nil {
			return err // says what it did
		}
	}
	return r.write("landscaper-fleet.yaml", all.Bytes()) // names the file
}

// deliveryManifests writes what a server needs whose feature DeliveryPolicies is on. It is a file of its
// own, because the feature is off by default.
func (r *release) deliveryManifests() error {
	crds, err := install.DeliveryCRDs()
	if err != nil {
		return err // says what it did
	}
	policies, err := install.DeliveryPolicies()
	if err != nil {
		return err // says what it did
	}
	var all bytes.Buffer
	for _, crd := range crds {
		if err := addDocument(&all, crd); err != nil {
			return err // says what it did
		}
	}
	for _, policy := range policies {
		if err := addDocument(&all, policy.Object); err != nil {
			return err // says what it did
		}
	}
	return r.write("landscaper-delivery.yaml", all.Bytes()) // names the file
}

func addDocument(out *bytes.Buffer, object any) error {
	text, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode a manifest: %w", err)
	}
	fmt.Fprintf(out, "---\n%s", text)
	return nil
}

// registration writes what makes the extension known to a Gardener, with the chart of the release.
func (r *release) registration(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err // names the folder
	}
	defer os.RemoveAll(folder) //nolint:errcheck // what is left is in the folder for what is left
	packed, image, stored := r.chart(program.ShootFlux.Name), r.find(program.ShootFlux.Name), r.find("charts/"+program.ShootFlux.Name)
	files, err := packed.Files()
	if err != nil {
		return err // names the chart
	}
	for _, file := range files {
		name := filepath.Join(folder, filepath.FromSlash(file.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, file.Data, 0o600)); err != nil {
			return err // names the file
		}
	}
	out := filepath.Join(folder, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return err // names the folder
	}
	command := exec.CommandContext(ctx, "go", "run", "./hack/registration", "-chart", filepath.Join(folder, packed.Name()),
		"-reference", stored.Reference(), "-image", image.Repository+":"+image.Tag, "-out", out)
	command.Dir = r.folder
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("write the registration of %s: %w\n%s", packed.Name(), err, output)
	}
	for _, name := range []string{"controller-registration.yaml", "operator-extension.yaml"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err // names the file
		}
		if err := r.write(packed.Name()+"-"+name, text); err != nil {
			return err // names the file
		}
	}
	return nil
}
