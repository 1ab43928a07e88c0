package apiserver

import (
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// release is the release of Kubernetes that a server claims to be: charts ask for it.
var release = version.Info{Major: "1", Minor: "34", GitVersion: "v1.34.0", Platform: "linux/amd64"}

// aggregated is how clients ask for all groups in one answer.
const aggregated = "as=APIGroupDiscoveryList"

var verbs = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// reviews are created, and nothing else.
var reviews = metav1.Verbs{"create"}

func verbsOf(kind *Kind) metav1.Verbs {
	if isReview(kind) {
		return reviews
	}
	return verbs
}

func isReview(kind *Kind) bool {
	return kind.Group == "authorization.k8s.io" || kind.Group == "authentication.k8s.io"
}

// groups returns the kinds of the core group, or of all others.
func (s *Server) groups(core bool) []*Kind {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var kinds []*Kind
	for _, kind := range s.kinds.sorted() {
		if (kind.Group == "") == core {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// discover answers the paths that are about kinds; nil for another path.
func (s *Server) discover(parts []string, accept string) *answer {
	switch {
	case len(parts) == 1 && parts[0] == "version":
		return ok(release)
	case len(parts) == 1 && (parts[0] == "api" || parts[0] == "apis"):
		kinds := s.groups(parts[0] == "api")
		if first, _, _ := strings.Cut(accept, ","); strings.Contains(first, aggregated) && strings.Contains(first, "v=v2") && !strings.Contains(first, "v2beta1") {
			return aggregatedGroups(kinds)
		}
		if parts[0] == "api" {
			return ok(metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
		}
		return groupList(kinds)
	case len(parts) == 2 && parts[0] == "api":
		return s.resources(metav1.GroupVersion{Version: parts[1]})
	case len(parts) == 3 && parts[0] == "apis":
		return s.resources(metav1.GroupVersion{Group: parts[1], Version: parts[2]})
	}
	return nil
}

func groupList(kinds []*Kind) *answer {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, kind := range kinds {
		version := metav1.GroupVersionForDiscovery{GroupVersion: kind.GroupVersion().String(), Version: kind.Version}
		last := len(list.Groups) - 1
		if last < 0 || list.Groups[last].Name != kind.Group {
			list.Groups = append(list.Groups, metav1.APIGroup{Name: kind.Group, PreferredVersion: version})
			last++
		}
		group := &list.Groups[last]
		if count := len(group.Versions); count == 0 || group.Versions[count-1] != version {
			group.Versions = append(group.Versions, version)
		}
	}
	return ok(list)
}

// aggregatedGroups has all groups, with their resources.
func aggregatedGroups(kinds []*Kind) *answer {
	list := apidiscoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}}
	for _, kind := range kinds {
		last := len(list.Items) - 1
		if last < 0 || list.Items[last].Name != kind.Group {
			list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: kind.Group}})
			last++
		}
		group := &list.Items[last]
		if count := len(group.Versions); count == 0 || group.Versions[count-1].Version != kind.Version {
			group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{Version: kind.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent})
		}
		version := &group.Versions[len(group.Versions)-1]
		scope := apidiscoveryv2.ScopeCluster
		if kind.Namespaced {
			scope = apidiscoveryv2.ScopeNamespace
		}
		version.Resources = append(version.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: kind.Resource, SingularResource: strings.ToLower(kind.Kind), Scope: scope, Verbs: verbsOf(kind),
			ResponseKind: &metav1.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind},
		})
	}
	found := ok(list)
	found.contentType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	return found
}

func (s *Server) resources(of metav1.GroupVersion) *answer {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: of.String(), APIResources: []metav1.APIResource{}}
	for _, kind := range s.groups(of.Group == "") {
		if kind.Group == of.Group && kind.Version == of.Version {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: kind.Resource, SingularName: strings.ToLower(kind.Kind), Namespaced: kind.Namespaced, Kind: kind.Kind, Verbs: verbsOf(kind),
			})
		}
	}
	if len(list.APIResources) == 0 {
		return failed(notServed(strings.Trim(of.String(), "/")))
	}
	return ok(list)
}
