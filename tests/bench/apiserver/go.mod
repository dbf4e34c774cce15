module podium.gpu/tests/bench/apiserver

go 1.26.0
