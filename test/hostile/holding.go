package hostile

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
)

// Holding is a cluster that stores nothing and has one Deployment, which is the same at each look.
func Holding(name, reason string, deployment map[string]any) Way {
	object, err := json.Marshal(deployment)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", deployment, err)) // maps, lists and texts can be encoded
	}
	list := fmt.Sprintf(`{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, object)
	return Way{
		Name: name, Reason: reason, Honest: isDiscovery,
		Serve: afterDiscovery(func(s *Server, w http.ResponseWriter, r *http.Request) {
			switch {
			case isWatch(r):
				onWatch(w, r, func() {
					_ = http.NewResponseController(w).Flush() // a client that has hung up needs nothing
					<-s.ended(r)
				})
			case r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/deployments"):
				onWatch(w, r, func() {})
			case path.Base(r.URL.Path) == "deployments":
				answerJSON(w, list)
			default:
				answerJSON(w, string(object))
			}
		}),
	}
}

// Stored is a cluster that says that it stores each Deployment that it gets, and never makes one ready.
func Stored() Way {
	return Way{
		Name: "stored", Reason: "a cluster where nothing gets ready", Honest: isDiscovery,
		Serve: afterDiscovery(func(s *Server, w http.ResponseWriter, r *http.Request) {
			onWatch(w, r, func() {
				_ = http.NewResponseController(w).Flush() // a client that has hung up needs nothing
				<-s.ended(r)
			})
		}),
	}
}
