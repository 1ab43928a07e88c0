package config

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/controller/shootflux/giturl"
)

// The keys of the ConfigMap.
const (
	keyVersion        = "fluxVersion"
	keyRegistry       = "fluxRegistry"
	keyComponents     = "fluxComponents"
	keyURL            = "repositoryUrl"
	keyBranch         = "repositoryBranch"
	keyType           = "repositoryType"
	keyTag            = "repositoryTag"
	keySemver         = "repositorySemver"
	keyCommit         = "repositoryCommit"
	keyPath           = "repositoryPath"
	keyInterval       = "interval"
	keyKInterval      = "kustomizationInterval"
	keyTarget         = "targetNamespace"
	keyPrune          = "prune"
	keySuspend        = "suspend"
	keyKnownHosts     = "knownHosts"
	keySyncMode       = "syncMode"
	keyDeletionPolicy = "deletionPolicy"
)

var keys = []string{
	keyVersion, keyRegistry, keyComponents, keyURL, keyBranch, keyType, keyTag, keySemver, keyCommit, keyPath,
	keyInterval, keyKInterval, keyTarget, keyPrune, keySuspend, keyKnownHosts, keySyncMode, keyDeletionPolicy,
}

// Names of the objects of a ConfigMap. The first implementation used the same names, so that its
// installations are adopted.
const (
	mainSource        = "main-gitrepo"
	mainKustomization = "main-ks"
)

// noTarget is how a ConfigMap says that objects keep their own namespaces: the key
// cannot be empty, which stands for the default.
const noTarget = "-"

// FromConfigMap reads the configuration of a project. Its error is an *Invalid.
func FromConfigMap(cm *corev1.ConfigMap) (*Config, error) {
	var p problems
	r := configMap{data: cm.Data, p: &p}
	c := Default()
	c.Origin, c.SyncMode, c.DeletionPolicy, c.WaitForReady = ProjectConfigMap, ManifestsOnly, Delete, false

	c.Flux.Version = checkVersion(r.text(keyVersion), keyVersion, &p)
	c.Flux.Registry = r.checked(keyRegistry, DefaultRegistry, isRegistry, needRegistry)
	c.Flux.Components = checkComponents(r.list(keyComponents), keyComponents, &p)
	if text := r.text(keySyncMode); text != "" {
		mode, known := parseSyncMode(text)
		if !known {
			p.add(keySyncMode, needSyncMode)
		}
		c.SyncMode, c.WaitForReady = mode, mode == Once
	}
	if text := r.text(keyDeletionPolicy); text != "" {
		policy, known := parseDeletionPolicy(text)
		if !known {
			p.add(keyDeletionPolicy, needDeletion)
		}
		c.DeletionPolicy = policy
	}
	source, kustomization := r.source(), r.kustomization()
	if r.wantsSource() {
		c.Source, c.Kustomization = source, kustomization
	}
	if err := p.err("ConfigMap " + cm.Namespace + "/" + cm.Name); err != nil {
		return nil, err
	}
	return c, nil
}

// UnknownKeys returns an error for the unknown keys of a ConfigMap. Its error is an *Invalid.
func UnknownKeys(cm *corev1.ConfigMap) error {
	var p problems
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		if !slices.Contains(keys, key) {
			p.add(key, "%s", unknown(key, keys))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(cm.BinaryData)) {
		p.add(key, "is binary: put it into data")
	}
	return p.err("ConfigMap " + cm.Namespace + "/" + cm.Name)
}

func unknown(name string, known []string) string {
	if meant := suggest.Name(name, known); meant != "" {
		return "is unknown: did you mean " + meant + "?"
	}
	return "is unknown: remove it"
}

// configMap reads values and records their problems.
type configMap struct {
	data map[string]string
	p    *problems
}

// text returns a value without the line break that files end with.
func (r configMap) text(key string) string { return strings.TrimSpace(r.data[key]) }

func (r configMap) checked(key, otherwise string, good func(string) bool, need string) string {
	text := r.text(key)
	if text == "" {
		return otherwise
	}
	if !good(text) {
		r.p.add(key, "%s", need)
	}
	return text
}

func (r configMap) list(key string) []string {
	var list []string
	for _, part := range strings.Split(r.text(key), ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

func (r configMap) boolean(key string, otherwise bool) bool {
	switch strings.ToLower(r.text(key)) {
	case "":
		return otherwise
	case "true":
		return true
	case "false":
		return false
	}
	r.p.add(key, "must be true or false")
	return otherwise
}

// wantsSource is false without address, branch and type: a project removes its repository in this
// way.
func (r configMap) wantsSource() bool {
	return r.text(keyURL) != "" || r.text(keyBranch) != "" || r.text(keyType) != ""
}

func (r configMap) source() *Source {
	private := r.private()
	repository := r.repository(private)
	spec := map[string]any{
		"interval": r.checked(keyInterval, "30s", isDuration, needDuration),
		"ref":      r.revision(),
	}
	source := &Source{
		Object: object(sourceGroup, kindGitRepository, mainSource, spec), Private: private,
		KnownHosts: r.text(keyKnownHosts),
	}
	if repository == nil {
		return source
	}
	source.URL = repository.String()
	spec["url"] = source.URL
	if private {
		source.SecretName, source.SecretNamespace = SourceSecret, DefaultNamespace
		source.GenerateSSHKey = repository.SSH()
		spec["secretRef"] = map[string]any{"name": SourceSecret}
	}
	if source.KnownHosts != "" && !source.GenerateSSHKey {
		r.p.add(keyKnownHosts, "is for private repositories with an ssh:// address: remove it")
	} else {
		checkKnownHosts(source.KnownHosts, repository, keyKnownHosts, r.p)
	}
	return source
}

func (r configMap) private() bool {
	switch r.text(keyType) {
	case "private":
		return true
	case "", "public":
		return false
	}
	r.p.add(keyType, "must be private or public")
	return false
}

func (r configMap) repository(private bool) *giturl.URL {
	text := r.text(keyURL)
	if text == "" {
		if r.wantsSource() {
			r.p.add(keyURL, "%s: set it, or empty %s and %s as well to install Flux without a source", missing, keyBranch, keyType)
		}
		return nil
	}
	repository := checkGit(text, keyURL, r.p)
	if repository != nil && repository.SSH() && !private {
		r.p.add(keyType, "must be private for an ssh:// address: set it, or use an https:// address")
	}
	return repository
}

// revision is the reference of the source. A more specific reference replaces the branch.
func (r configMap) revision() map[string]any {
	exact := []struct {
		key, field, need string
		good             func(string) bool
	}{
		{keyCommit, "commit", "is no commit: write all 40 digits of its hash, in lower case", commit.MatchString},
		{keyTag, "tag", needRevision, isRevision},
		{keySemver, "semver", "is no range of versions: write it like >=1.2.0 <2.0.0", isRange},
	}
	chosen := ""
	ref := map[string]any{}
	for _, one := range exact {
		text := r.checked(one.key, "", one.good, one.need)
		switch {
		case text == "":
		case chosen != "":
			r.p.add(one.key, "cannot be together with %s: choose one", chosen)
		default:
			chosen, ref[one.field] = one.key, text
		}
	}
	branch := r.checked(keyBranch, "", isRevision, needRevision)
	if chosen != "" {
		return ref
	}
	if branch == "" && r.wantsSource() {
		r.p.add(keyBranch, "%s: set it, or one of %s, %s, %s", missing, keyTag, keySemver, keyCommit)
	}
	return map[string]any{"branch": branch}
}

func (r configMap) kustomization() *unstructured.Unstructured {
	spec := map[string]any{
		"interval":  r.checked(keyKInterval, "5m", isDuration, needDuration),
		"path":      r.checked(keyPath, "./", isPath, needPath),
		"prune":     r.boolean(keyPrune, true),
		"sourceRef": map[string]any{"kind": kindGitRepository, "name": mainSource},
	}
	isTarget := func(text string) bool { return text == noTarget || isLabel(text) }
	if target := r.checked(keyTarget, "default", isTarget, needLabel+"; or - to leave objects where they say"); target != noTarget {
		spec["targetNamespace"] = target
	}
	if r.boolean(keySuspend, false) {
		spec["suspend"] = true
	}
	return object(kustomizeGroup, kindKustomization, mainKustomization, spec)
}

func object(group, kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": DefaultNamespace},
		"spec":     spec,
	}}
}
