package apiserver

import (
	"encoding/json"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// review answers requests that create nothing: every user may do all, and gets a token that leads
// nowhere.
func (s *Server) review(made *call) *answer {
	var object map[string]any
	if made.verb != "create" {
		return failed(apierrors.NewMethodNotSupported(made.kind.groupResource(), made.verb))
	}
	if err := json.Unmarshal(made.body, &object); err != nil || object == nil {
		return failed(apierrors.NewBadRequest("the review is not an object"))
	}
	user := map[string]any{"username": "landscaper"}
	status := map[string]any{"allowed": true}
	switch {
	case made.subresource == "token":
		s.mutex.Lock()
		_, err := s.find(made.kind, made.key())
		s.mutex.Unlock()
		if err != nil {
			return failed(err)
		}
		status = map[string]any{"token": "of-a-cluster-in-memory", "expirationTimestamp": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
	case made.kind.Kind == "TokenReview":
		status = map[string]any{"authenticated": true, "user": user}
	case made.kind.Kind == "SelfSubjectReview":
		status = map[string]any{"userInfo": user}
	case made.kind.Kind == "SelfSubjectRulesReview":
		all := []any{"*"}
		status = map[string]any{"incomplete": false, "nonResourceRules": []any{}, "resourceRules": []any{map[string]any{"verbs": all, "apiGroups": all, "resources": all}}}
	}
	object["status"] = status
	return &answer{code: 201, value: object}
}
