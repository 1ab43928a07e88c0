// Command flux-manifests writes the manifests of a release of Flux as its distribution
// has them: a file for each controller, one for roles and one for network policies.
// Everything comes from modules, so that versions are pinned in go.mod and nothing is
// downloaded from anywhere else.
//
//	flux-manifests -controllers DIR -controller-gen FILE -out DIR -own DIR
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// distribution is the module that says what belongs to a release.
const distribution = "github.com/fluxcd/flux2/v2"

func main() {
	controllers := flag.String("controllers", "", "directory of the module that requires source-controller and kustomize-controller")
	generator := flag.String("controller-gen", "", "program that writes CustomResourceDefinitions")
	out := flag.String("out", "", "directory for the manifests; what is there is replaced")
	own := flag.String("own", "", "directory for what Flux's own command line makes of the manifests")
	flag.Parse()
	if err := run(*controllers, *generator, *out, *own); err != nil {
		fmt.Fprintln(os.Stderr, "flux-manifests:", err)
		os.Exit(1)
	}
}

func run(controllers, generator, out, own string) error {
	release, err := find(".", distribution)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "flux-manifests-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // what is left is in the folder for what is left
	manifests := filepath.Join(work, "manifests")
	if err := os.CopyFS(manifests, os.DirFS(filepath.Join(release.Dir, "manifests"))); err != nil {
		return err
	}
	b := &bundle{manifests: manifests, controllers: controllers, generator: generator}
	results := map[string][]byte{}
	bases, err := filepath.Glob(filepath.Join(manifests, "bases", "*"))
	if err != nil {
		return err
	}
	sort.Strings(bases)
	for _, base := range bases {
		name := filepath.Base(base)
		if results[name], err = b.controller(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, name := range []string{"rbac", "policies"} {
		if results[name], err = build(filepath.Join(manifests, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	folder := filepath.Join(out, release.Version)
	if err := write(folder, out, results); err != nil {
		return err
	}
	return writeOwn(folder, release.Version, own)
}

// write replaces what is there.
func write(directory, out string, results map[string][]byte) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	for name, content := range results {
		if err := os.WriteFile(filepath.Join(directory, name+".yaml"), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// module is where a module is, and in which version.
type module struct{ Dir, Version string }

func find(directory, path string) (module, error) {
	var found module
	cmd := exec.Command("go", "mod", "download", "-json", path)
	cmd.Dir = directory
	// Without this, a module that was not fetched yet has no directory.
	if output, err := cmd.CombinedOutput(); err != nil {
		return found, fmt.Errorf("fetch module %s: %w: %s", path, err, output)
	}
	cmd = exec.Command("go", "list", "-m", "-json", path)
	cmd.Dir = directory
	output, err := cmd.Output()
	if err != nil {
		return found, fmt.Errorf("find module %s: %w", path, err)
	}
	if err := json.Unmarshal(output, &found); err != nil {
		return found, fmt.Errorf("find module %s: %w", path, err)
	}
	return found, nil
}

// bundle makes the manifests of controllers.
type bundle struct{ manifests, controllers, generator string }

// remote are the resources of a base that are not in the module of the distribution.
var remote = regexp.MustCompile(`(?m)^- https://github\.com/fluxcd/[a-z-]+/releases/download/(?P<version>[^/]+)/[a-z-]+\.(crds|deployment)\.yaml\n`)

// controller makes the manifests of one controller: what the distribution has for it, its
// kinds and its Deployment.
func (b *bundle) controller(name string) ([]byte, error) {
	base := filepath.Join(b.manifests, "bases", name)
	file := filepath.Join(base, "kustomization.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := remote.FindAllSubmatch(content, -1)
	if len(found) != 2 || string(found[0][1]) != string(found[1][1]) {
		return nil, fmt.Errorf("%s does not name the kinds and the Deployment of one release of the controller", file)
	}
	version := string(found[0][1])
	content = remote.ReplaceAll(content, nil)
	content = []byte(regexp.MustCompile(`(?m)^resources:\n`).ReplaceAllString(string(content), "resources:\n- crds\n- manager\n"))
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return nil, err
	}
	if err := b.kinds(name, version, filepath.Join(base, "crds")); err != nil {
		return nil, err
	}
	if err := b.manager(name, version, filepath.Join(base, "manager")); err != nil {
		return nil, err
	}
	return build(base)
}

// kinds writes the CustomResourceDefinitions of a controller.
func (b *bundle) kinds(name, version, into string) error {
	api, ok := apis[name]
	if !ok {
		return fmt.Errorf("nothing is known of this controller: add its API to the table")
	}
	of, err := find(".", api)
	if err != nil {
		return err
	}
	if of.Version != version {
		return fmt.Errorf("the release wants %s, go.mod has %s %s: change go.mod", version, api, of.Version)
	}
	output, err := exec.Command(b.generator, "crd", "paths="+api+"/...", "output:crd:dir="+into).CombinedOutput()
	if err != nil {
		return fmt.Errorf("write the kinds of %s: %w: %s", api, err, output)
	}
	return kustomization(into, "")
}

// kustomization makes all files of a folder one.
func kustomization(folder, more string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return err
	}
	sort.Strings(files)
	text := "resources:\n"
	for _, file := range files {
		text += "- " + filepath.Base(file) + "\n"
	}
	return os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text+more), 0o600)
}

func build(folder string) ([]byte, error) {
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	return made.AsYaml()
}
