package config

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/giturl"
)

// defaultName is that of source, kustomization and secret of a provider configuration.
const defaultName = "flux-system"

const (
	sourceField        = "source.template"
	kustomizationField = "kustomization.template"
)

// source reads source and kustomization, which depend on each other.
func (d *decoder) source() {
	source, kustomization := d.templates()
	switch {
	case source == nil && kustomization == nil:
		return
	case source == nil:
		if d.written.Source == nil {
			d.p.add("source", "%s: a kustomization needs one", missing)
		}
		return
	case kustomization == nil:
		if d.written.Kustomization == nil {
			d.p.add("kustomization", "%s: a source needs one", missing)
		}
		return
	}
	d.checkSourceKind(source)
	if kind := kustomization.text("kind"); kind != "" && kind != kindKustomization {
		d.p.add(kustomization.path("kind"), "must be %s", kindKustomization)
	}
	checkAPIVersion(kustomization, kustomizeGroup)
	d.defaults(source, kustomization)
	d.checkKustomization(kustomization)
	d.c.Source = d.readSource(source)
	d.c.Source.Object = &unstructured.Unstructured{Object: source.object}
	d.c.Kustomization = &unstructured.Unstructured{Object: kustomization.object}
	d.checkTenancy()
}

// templates returns the configured objects, merged over those of the base.
func (d *decoder) templates() (source, kustomization *template) {
	written := d.written
	if written.Source != nil {
		source = readTemplate(written.Source.Template, sourceField, d.p)
	}
	if written.Kustomization != nil {
		kustomization = readTemplate(written.Kustomization.Template, kustomizationField, d.p)
	}
	if d.c.Source == nil {
		return source, kustomization
	}
	base := d.movable(d.c.Source.Object)
	switch {
	case written.Source == nil:
		source = &template{object: base.Object, field: sourceField, p: d.p}
	case source != nil && !d.otherKind(source, base):
		source = source.over(base)
	}
	base = d.movable(d.c.Kustomization)
	// The reference names the source of the base, which may have another name now.
	unstructured.RemoveNestedField(base.Object, "spec", "sourceRef")
	switch {
	case written.Kustomization == nil:
		kustomization = &template{object: base.Object, field: kustomizationField, p: d.p}
	case kustomization != nil:
		kustomization = kustomization.over(base)
	}
	return source, kustomization
}

// otherKind says whether the source has another kind than that of the base.
func (d *decoder) otherKind(source *template, base *unstructured.Unstructured) bool {
	kind := source.text("kind")
	return kind != "" && kind != base.GetKind()
}

// movable returns an object of the base without the namespace of Flux, which may be
// another one now.
func (d *decoder) movable(of *unstructured.Unstructured) *unstructured.Unstructured {
	moved := of.DeepCopy()
	if moved.GetNamespace() == d.namespaceWas {
		moved.SetNamespace("")
	}
	return moved
}

func (d *decoder) checkSourceKind(source *template) {
	source.fill(kindGitRepository, "kind")
	if kind := source.text("kind"); kind != kindGitRepository && kind != kindOCIRepository {
		d.p.add(source.path("kind"), "must be %s or %s", kindGitRepository, kindOCIRepository)
	}
	checkAPIVersion(source, sourceGroup)
}

// checkAPIVersion accepts the versions that the documentation of Flux shows. The written version
// follows from the release.
func checkAPIVersion(t *template, group string) {
	written := t.text("apiVersion")
	if written != "" && written != group+"/v1" && written != group+"/v1beta2" {
		t.p.add(t.path("apiVersion"), "must be %s/v1", group)
	}
	t.object["apiVersion"] = group + "/v1"
}

// defaults fills what is empty, in this order: a kustomization follows the configured source, both
// follow the configured namespace, and the rest has fixed names.
func (d *decoder) defaults(source, kustomization *template) {
	kustomization.fill(source.text("kind"), "spec", "sourceRef", "kind")
	kustomization.fill(source.text("metadata", "name"), "spec", "sourceRef", "name")
	kustomization.fill(source.text("metadata", "namespace"), "spec", "sourceRef", "namespace")
	for _, namespace := range []string{d.c.Flux.Namespace, DefaultNamespace} {
		source.fill(namespace, "metadata", "namespace")
		kustomization.fill(namespace, "metadata", "namespace")
		kustomization.fill(namespace, "spec", "sourceRef", "namespace")
	}
	source.fill(defaultName, "metadata", "name")
	source.interval()
	kustomization.fill(kindKustomization, "kind")
	kustomization.fill(defaultName, "metadata", "name")
	kustomization.fill(defaultName, "spec", "sourceRef", "name")
	kustomization.interval()
}

func (d *decoder) checkKustomization(t *template) {
	if path := t.text("spec", "path"); path == "" {
		d.p.add(t.path("spec", "path"), "%s: name a directory of the source, ./ for all of it", missing)
	} else if !isPath(path) {
		d.p.add(t.path("spec", "path"), needPath)
	}
	spec := t.fields("spec")
	if spec["prune"] == nil {
		// Flux requires the field and has no default for it.
		spec["prune"] = false
	}
	for _, name := range []string{"prune", "suspend"} {
		if _, isBool := spec[name].(bool); spec[name] != nil && !isBool {
			d.p.add(t.path("spec", name), "must be true or false")
		}
	}
	if namespace := t.text("spec", "targetNamespace"); namespace != "" && !isLabel(namespace) {
		d.p.add(t.path("spec", "targetNamespace"), needLabel)
	}
}

// readSource checks a source after its defaults were set.
func (d *decoder) readSource(t *template) *Source {
	source := &Source{}
	if base := d.c.Source; base != nil && base.Object.GetKind() == t.text("kind") {
		*source = *base
	}
	var repository *giturl.URL
	source.URL = t.text("spec", "url")
	switch {
	case source.URL == "":
		d.p.add(t.path("spec", "url"), "%s: write where the source is", missing)
	case t.text("kind") == kindOCIRepository:
		d.checkOCI(source.URL, t)
	default:
		if repository = checkGit(source.URL, t.path("spec", "url"), d.p); repository != nil {
			source.URL = repository.String()
			t.fields("spec")["url"] = source.URL
		}
	}
	d.checkRef(t)
	d.credentials(source, t, repository)
	return source
}

func (d *decoder) checkOCI(address string, t *template) {
	name, isOCI := strings.CutPrefix(address, "oci://")
	// The address may hold a password, so it is not repeated.
	if !isOCI || !isRegistry(name) {
		d.p.add(t.path("spec", "url"), "is no repository of artifacts: write it like oci://registry.example.org/team/app, without tag and credentials")
	}
}

func (d *decoder) checkRef(t *template) {
	revisions := []string{"branch", "tag", "semver", "name", "commit"}
	if t.text("kind") == kindOCIRepository {
		revisions = []string{"tag", "semver", "digest"}
	}
	found := false
	if t.fields("spec")["ref"] != nil {
		t.fields("spec", "ref")
	}
	for _, name := range revisions {
		found = t.text("spec", "ref", name) != "" || found
	}
	if text := t.text("spec", "ref", "semver"); text != "" && !isRange(text) {
		d.p.add(t.path("spec", "ref", "semver"), "is no range of versions: write it like >=1.2.0 <2.0.0")
	}
	if !found {
		d.p.add(t.path("spec", "ref"), "%s: set one of %s", missing, strings.Join(revisions, ", "))
	}
}

// credentials sets the origin of the credentials, and the name of their Secret in the shoot.
func (d *decoder) credentials(source *Source, t *template, repository *giturl.URL) {
	if written := d.written.Source; written != nil {
		if written.SecretResourceName != "" {
			source.SecretResource, source.GenerateSSHKey = written.SecretResourceName, false
		}
		if written.GenerateSSHKey != nil {
			source.GenerateSSHKey = *written.GenerateSSHKey
		}
		if written.KnownHosts != "" {
			source.KnownHosts = written.KnownHosts
		}
	}
	source.Private = source.SecretResource != "" || source.GenerateSSHKey || source.Private
	d.checkGenerated(source, repository)
	d.secretRef(source, t, repository)
}

// checkGenerated requires an SSH address.
func (d *decoder) checkGenerated(source *Source, repository *giturl.URL) {
	if source.GenerateSSHKey && source.SecretResource != "" {
		d.p.add("source.generateSSHKey", "cannot be together with source.secretResourceName: choose one")
	}
	if source.GenerateSSHKey && (repository == nil || !repository.SSH()) {
		d.p.add("source.generateSSHKey", "is for repositories with an ssh:// address: use source.secretResourceName")
	}
	if source.KnownHosts != "" && !source.GenerateSSHKey {
		d.p.add("source.knownHosts", "is for a generated key: put known_hosts into the Secret, or set source.generateSSHKey")
		return
	}
	checkKnownHosts(source.KnownHosts, repository, "source.knownHosts", d.p)
}

// secretRef names the Secret of a private source.
func (d *decoder) secretRef(source *Source, t *template, repository *giturl.URL) {
	if t.fields("spec")["secretRef"] != nil {
		t.fields("spec", "secretRef")
	}
	if source.SecretResource != "" {
		t.fill(defaultName, "spec", "secretRef", "name")
	} else if source.Private {
		t.fill(SourceSecret, "spec", "secretRef", "name")
	}
	source.SecretName, source.SecretNamespace = t.text("spec", "secretRef", "name"), ""
	switch {
	case source.SecretName == "" && repository != nil && repository.SSH():
		d.p.add("source.secretResourceName", "%s: an ssh:// address needs a key; name a Secret with it, or set source.generateSSHKey", missing)
		return
	case source.SecretName == "":
		return
	case !isSubdomain(source.SecretName):
		d.p.add(t.path("spec", "secretRef", "name"), needSubdomain)
	case !source.Private:
		d.p.add("source.secretResourceName", "%s: name the entry of the Shoot's spec.resources that spec.secretRef of the template stands for", missing)
	}
	source.SecretNamespace = t.text("metadata", "namespace")
}

// checkTenancy refuses objects that Flux would not reconcile.
func (d *decoder) checkTenancy() {
	flux := d.c.Flux
	namespaces := []string{d.c.Source.Object.GetNamespace(), d.c.Kustomization.GetNamespace()}
	if !flux.Options.WatchAllNamespaces && slices.ContainsFunc(namespaces, func(namespace string) bool { return namespace != flux.Namespace }) {
		d.p.add("flux.options.watchAllNamespaces", "is false, so Flux sees its own namespace only: put source and kustomization there")
	}
	if of, _, _ := unstructured.NestedString(d.c.Kustomization.Object, "spec", "sourceRef", "namespace"); flux.Options.Multitenant && of != namespaces[1] {
		d.p.add("flux.options.multitenant", "is set, so a kustomization cannot use a source of another namespace: put both into one")
	}
}
